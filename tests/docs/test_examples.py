"""The examples, as the documentation tells people to run them."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest
from tests.kit import Run
from tests.kit.pytest_plugin_option import WITH_PLUGIN

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


@pytest.fixture
def example(tmp_path: Path) -> Callable[[str], Path]:
    """Builds an example's image under the name its job file has, and copies the example to where it may write."""

    def make(name: str) -> Path:
        subprocess.run([ROOT / "scripts" / "image", EXAMPLES / name / "image", f"smlocal-example-{name}"], check=True)
        shutil.copytree(EXAMPLES / name, tmp_path / name, ignore=shutil.ignore_patterns("out"))
        return tmp_path / name

    return make


def model_of(folder: Path, answer: dict[str, Any]) -> dict[str, bytes]:
    with tarfile.open(folder / "out" / answer["TrainingJobName"] / "output" / "model.tar.gz") as archive:
        return {entry.name: file.read() for entry in archive if (file := archive.extractfile(entry)) is not None}


@pytest.mark.long
def test_hello(example: Callable[[str], Path], smlocal_run: Run, assert_nothing_left: Callable[[str], None]) -> None:
    folder = example("hello")
    done = smlocal_run("run", "job.yaml", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert model_of(folder, answer) == {"greetings.txt": b"Hello, Ada!\nHello, Grace!\nHello, Katherine!\n"}
    assert f"3 people greeted by {answer['TrainingJobName']}" in done.stderr
    assert_nothing_left(answer["TrainingJobName"])


@pytest.mark.slow(6)
@pytest.mark.long
def test_decision_tree(
    example: Callable[[str], Path], smlocal_run: Run, assert_nothing_left: Callable[[str], None]
) -> None:
    folder = example("decision-tree")
    done = smlocal_run("run", "job.yaml", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert list(model_of(folder, answer)) == ["decision-tree-model.pkl"]
    assert "rows=150 leaves=5 accuracy=0.9800" in done.stderr
    assert_nothing_left(answer["TrainingJobName"])


@pytest.mark.slow(6)
def test_decision_tree_says_why_it_fails(example: Callable[[str], Path], smlocal_run: Run) -> None:
    folder = example("decision-tree")
    done = smlocal_run("run", "job.yaml", "--json", "--hyperparameter", "max_leaf_nodes=five", cwd=folder)
    assert done.returncode == 1, done.stderr
    reason = json.loads(done.stdout)["FailureReason"]
    start, _, traceback = reason.partition("\n")
    assert start == "AlgorithmError: Exception during training: invalid literal for int() with base 10: 'five'"
    assert traceback.startswith("Traceback (most recent call last):\n")
    assert reason.endswith(", exit code: 255")


@pytest.mark.slow(15)
def test_decision_tree_has_tests(example: Callable[[str], Path], smlocal_home: Path) -> None:
    folder = example("decision-tree")
    command = [sys.executable, "-m", "pytest", *WITH_PLUGIN, "--smlocal-required", "--rootdir", folder, folder]
    environment = {**os.environ, "SMLOCAL_HOME": str(smlocal_home)}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=200
    )
    assert " 4 passed" in done.stdout, done.stdout


def test_the_page_about_pytest_shows_them() -> None:
    page = (ROOT / "docs" / "pytest.md").read_text(encoding="utf-8")
    test = (EXAMPLES / "decision-tree" / "test_decision_tree.py").read_text(encoding="utf-8").partition("\n\n")[2]
    assert indent(test, "    ") in page


@pytest.mark.slow(2)
def test_the_page_about_python(
    example: Callable[[str], Path], smlocal_home: Path, assert_nothing_left: Callable[[str], None]
) -> None:
    """Every block of the page, in order, in one process."""
    lines = (ROOT / "docs" / "python.md").read_text(encoding="utf-8").splitlines()
    code = "\n".join(line.removeprefix("    ") for line in lines if line.startswith("    ") or not line)
    folder = example("hello")
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, "SMLOCAL_HOME": str(smlocal_home)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    for said in (
        "Completed Artifact(path=",
        "['algo-1', 'algo-2']",
        "3 people greeted by from-a-dict",
        "Hello, Ada!",
        "people 1 3.0",
        "request-invalid",
        "Requested resource not found.",
    ):
        assert said in done.stdout, done.stdout
    assert (folder / "elsewhere").is_dir()
    assert_nothing_left("behind")
