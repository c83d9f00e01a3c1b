"""`run --report FILE` on real containers: the file is there however the job ends, and the page of each is whole."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.kit import Run, until


def read(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


@pytest.mark.slow(2, others=True)
@pytest.mark.parametrize(
    ("script", "code", "status"),
    [("echo loss=0.5; echo hi >/opt/ml/model/a", 0, "Completed"), ("echo no >&2; exit 3", 1, "Failed")],
    ids=["completed", "failed"],
)
def test_the_file_is_what_describe_says(
    script: str, code: int, status: str, smlocal_run: Run, image: Callable[[str], str], tmp_path: Path
) -> None:
    path = tmp_path / "result.json"
    job = ("--image", image("sh"), "--name", "reported", "-e", f"SCRIPT={script}", "--report", "result.json")
    assert smlocal_run("run", *job, cwd=tmp_path).returncode == code
    answer = read(path)
    assert answer["TrainingJobStatus"] == status
    assert answer["Local"]["Version"] == 1
    assert answer == json.loads(smlocal_run("describe", "reported", "--json").stdout)
    assert [entry for entry in os.listdir(tmp_path) if "partial" in entry] == []
    page = smlocal_run("report", "reported", "--html", "-").stdout
    for words in (f">{status} ", "<h2>Log</h2>", *(["model.tar.gz"] if status == "Completed" else ["exit code: 3"])):
        assert words in page


@pytest.mark.slow(1)
def test_a_stop_by_ctrl_c(smlocal_home: Path, smlocal_run: Run, image: Callable[[str], str], tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    script = "trap 'exit 0' TERM; echo up; while :; do sleep 0.1; done"
    job = ("--image", image("sh"), "--name", "reported", "-e", f"SCRIPT={script}", "--report", str(path))
    with subprocess.Popen(
        [sys.executable, "-m", "smlocal", "run", *job],
        cwd=tmp_path,
        env={**os.environ, "SMLOCAL_HOME": str(smlocal_home)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        log = smlocal_home / "jobs" / "reported" / "logs" / "algo-1.log"
        until(lambda: log.exists() and b"up" in log.read_bytes())
        page = smlocal_run("report", "reported", "--html", "-").stdout
        assert "still running when this page was made" in page
        assert not path.exists()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    assert read(path)["TrainingJobStatus"] == "Stopped"


def test_of_a_detached_job_by_the_process_that_stays_behind(
    smlocal_run: Run, image: Callable[[str], str], tmp_path: Path
) -> None:
    path = tmp_path / "result.json"
    job = ("--image", image("sh"), "--name", "reported", "-e", "SCRIPT=true", "--report", "result.json", "--detach")
    assert smlocal_run("run", *job, cwd=tmp_path).returncode == 0
    until(path.exists)
    assert read(path)["TrainingJobStatus"] == "Completed"


def test_a_run_that_makes_no_job_writes_nothing(smlocal_run: Run, image: Callable[[str], str], tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    job = ("--image", image("sh"), "--name", "reported", "-e", "SCRIPT=true")
    assert smlocal_run("run", *job, cwd=tmp_path).returncode == 0
    assert smlocal_run("run", *job, "--report", str(path), cwd=tmp_path).returncode == 2  # the name is in use
    assert not path.exists()


@pytest.mark.parametrize("option", ["--report", "--junit"])
def test_a_file_that_takes_nothing_is_an_error_after_the_summary(
    option: str, smlocal_run: Run, image: Callable[[str], str], tmp_path: Path
) -> None:
    job = ("--image", image("sh"), "--name", "reported", "-e", "SCRIPT=true", option, "/dev/full", "--json")
    done = smlocal_run("run", *job, cwd=tmp_path)
    assert done.returncode == 2
    assert json.loads(done.stdout)["TrainingJobStatus"] == "Completed"
    assert done.stderr.index("Completed in") < done.stderr.index("[output-unusable]")
