"""`smlocal demo`, and what it leaves."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.kit import Run

IMAGE = "smlocal-demo:latest"


def has_image() -> bool:
    return subprocess.run(["docker", "image", "inspect", IMAGE], capture_output=True, check=False).returncode == 0


@pytest.mark.slow(2)
def test_a_job_is_run_and_everything_is_removed(
    smlocal_run: Run, smlocal_home: Path, image: Callable[[str], str]
) -> None:
    base = image("sh")
    done = smlocal_run("demo", "--base", base)
    assert done.returncode == 0, done.stderr
    assert "epoch 20 loss=" in done.stdout
    assert "✔ Training" in done.stderr
    assert "smlocal demo --clean" in done.stderr
    assert re.search(r"^  cd \S+/demo\n +its job\.yaml", done.stderr, re.MULTILINE)  # a long path ends its line
    folder = smlocal_home / "demo"
    assert f"FROM {base}\n" in (folder / "image" / "Dockerfile").read_text()
    assert '"a": 2.9' in done.stdout  # the points are near y = 3 x + 2
    # What the last lines say to do.
    (folder / "job.yaml").write_text((folder / "job.yaml").read_text().replace('"20"', '"2"'))
    again = smlocal_run("run", "--build", "image", "-q", cwd=folder)
    assert (again.returncode, again.stdout.count("epoch ")) == (0, 2)
    own = smlocal_run("jobs").stdout.splitlines()[1].split()[0]
    try:
        assert has_image()
    finally:
        cleaned = smlocal_run("demo", "--clean")
    assert cleaned.returncode == 0, cleaned.stderr
    assert not has_image()
    assert not folder.exists()
    assert [line.split()[0] for line in smlocal_run("jobs").stdout.splitlines()] == ["NAME", own]  # not of the demo
    assert smlocal_run("demo", "--clean").stderr == ""


@pytest.mark.parametrize("clean", [(), ("--clean",)], ids=str)
def test_without_an_engine(clean: tuple[str, ...], smlocal_run: Run) -> None:
    done = smlocal_run("demo", *clean, env={"DOCKER_HOST": "unix:///nowhere"})
    assert done.returncode == 3
    assert "[engine-unreachable]" in done.stderr


def test_a_base_that_is_nowhere(smlocal_run: Run) -> None:
    done = smlocal_run("demo", "--base", "localhost:1/no/such:image")
    assert done.returncode == 3
    assert "[demo-base-missing]" in done.stderr
    assert "smlocal demo --base IMAGE" in done.stderr
