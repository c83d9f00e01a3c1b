"""`scripts/image`: by content, from no registry, and nothing left of what fails."""

import os
import shutil
import subprocess
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted(
    path
    for folder in ("scripts", "scripts/lib", ".ci", "benchmarks/programs")
    for path in (ROOT / folder).iterdir()
    if path.is_file() and (path.suffix == ".sh" or path.read_bytes().startswith(b"#!/usr/bin/env bash"))
)


def build(folder: Path, *tag: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([ROOT / "scripts" / "image", folder, *tag], capture_output=True, text=True, check=False)


def write(folder: Path, *lines: str, base: str = "busybox:stable") -> None:
    text = [f"ARG BASE={base}", "FROM ${BASE}", *lines, "COPY . /here"]
    (folder / "Dockerfile").write_text("\n".join(text) + "\n")


@pytest.mark.slow(10)
def test_scripts_are_as_shellcheck_wants_them() -> None:
    if shutil.which("shellcheck") is None:
        pytest.skip("needs shellcheck")
    checked = subprocess.run(["shellcheck", *SCRIPTS], cwd=ROOT, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout


@pytest.mark.slow(2)
def test_same_content_is_built_once_and_other_content_anew(tmp_path: Path, docker: Callable[..., str]) -> None:
    write(tmp_path)
    (tmp_path / "content").write_text(str(tmp_path))
    first = build(tmp_path, "smlocal-test-image-script:latest")
    again = build(tmp_path)
    assert first.stdout == "smlocal-test-image-script:latest\n"
    assert "building" in first.stderr
    assert again.stderr == ""
    assert docker("run", "--rm", again.stdout.strip(), "cat", "/here/content") == str(tmp_path)
    (tmp_path / "content").write_text("other")
    other = build(tmp_path)
    assert other.stdout != again.stdout
    assert docker("run", "--rm", other.stdout.strip(), "cat", "/here/content") == "other"
    docker("image", "rm", "--force", again.stdout.strip(), other.stdout.strip(), first.stdout.strip())


@pytest.mark.slow(1)
def test_failed_build_leaves_nothing(tmp_path: Path, docker: Callable[..., str]) -> None:
    label = f"smlocal.test={uuid.uuid4().hex}"
    write(tmp_path, f"LABEL {label}", "RUN echo first >/first", "RUN echo the reason; exit 9")
    failed = build(tmp_path)
    assert failed.returncode != 0
    assert failed.stdout == ""
    assert "the reason" in failed.stderr
    assert docker("image", "ls", "--all", "--quiet", "--filter", f"label={label}") == ""


def test_packages_lose_their_tests_but_not_what_others_import(docker: Callable[..., str]) -> None:
    built = build(ROOT / "examples" / "decision-tree" / "image")
    assert built.returncode == 0, built.stderr
    program = "import os, scipy.sparse as s; print(s.eye(2).nnz, os.path.exists(s.__path__[0] + '/tests'))"
    assert docker("run", "--rm", built.stdout.strip(), "python3", "-c", program).split() == ["2", "False"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [((), "usage:"), (("/nowhere",), "has no Dockerfile"), (("FOLDER",), "there is no local base for")],
)
def test_wrong_use_is_explained(tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    write(tmp_path, base="no-such:image")
    given = [str(tmp_path) if each == "FOLDER" else each for each in arguments]
    done = subprocess.run([ROOT / "scripts" / "image", *given], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert says in done.stderr


@pytest.mark.slow(1)
def test_too_little_disk_for_the_demo_is_said_before_it_begins(own_engine: Any, small_disk: Path) -> None:
    environment = {**os.environ, "DOCKER_HOST": own_engine.address, "SMLOCAL_CACHE": str(small_disk)}
    demo = [ROOT / "scripts" / "demo"]
    done = subprocess.run(demo, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr
    assert done.stderr.startswith("error: this needs 1300 MB of disk for the image of the example")
    assert f"MB are free at {small_disk}" in done.stderr
