"""Standard output that has no reader, or that cannot be written: the job, and its exit code, are not affected."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.kit import Run, until

FLOOD = "trap 'exit 0' TERM; while :; do echo 0123456789012345678901234567890123456789012345678901234567890123; done"

ENDLESS = "trap 'exit 0' TERM; sleep 600 & wait"


@contextmanager
def unread(
    home: Path, cwd: Path, *arguments: str, both: bool = False
) -> Iterator[tuple["subprocess.Popen[bytes]", Callable[[], bool]]]:
    """A run whose stdout is a pipe without a reader, and a test whether nothing more fits into that."""
    reading, writing = os.pipe()
    try:
        with subprocess.Popen(
            [sys.executable, "-m", "smlocal", "run", *arguments],
            cwd=cwd,
            env={**os.environ, "SMLOCAL_HOME": str(home)},
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=writing if both else subprocess.PIPE,
        ) as process:
            try:
                yield process, lambda: not select.select([], [writing], [], 0)[1]
            finally:
                process.kill()
    finally:
        os.close(writing)
        os.close(reading)


@pytest.mark.slow(2)
@pytest.mark.parametrize("both", [False, True], ids=["stdout", "stdout and stderr"])
@pytest.mark.parametrize("hosts", ["1", "2"])
def test_the_time_limit_holds(
    both: bool,
    hosts: str,
    tmp_path: Path,
    smlocal_home: Path,
    smlocal_run: Run,
    image: Callable[[str], str],
    assert_nothing_left: Callable[[str], None],
) -> None:
    job = ("--image", image("sh"), "--name", "flood", "-e", f"SCRIPT={FLOOD}", "--max-run", "2")
    with unread(smlocal_home, tmp_path, *job, "--instance-count", hosts, both=both) as (process, _):
        # Waiting for the reader would take twenty seconds more; a minute is for slow machines.
        assert process.wait(60) == 4
        said = process.stderr.read().decode() if process.stderr is not None else ""
    answer = json.loads(smlocal_run("describe", "flood", "--json").stdout)
    assert answer["SecondaryStatus"] == "MaxRuntimeExceeded"
    training = next(t for t in answer["SecondaryStatusTransitions"] if t["Status"] == "Training")
    assert training["EndTime"] - training["StartTime"] < 20
    assert not any(host["Killed"] for host in answer["Local"]["Hosts"])
    if not both:
        assert "MaxRuntimeInSeconds reached" in said
        assert "the output is not being read" in said
        assert "Stopped (MaxRuntimeExceeded) in " in said
    assert_nothing_left("flood")


@pytest.mark.slow(1)
def test_a_signal_stops_it(tmp_path: Path, smlocal_home: Path, smlocal_run: Run, image: Callable[[str], str]) -> None:
    job = ("--image", image("sh"), "--name", "flood", "-e", f"SCRIPT={FLOOD}")
    with unread(smlocal_home, tmp_path, *job) as (process, full):
        # How many bytes that takes depends on how they come: a page of the pipe is not always filled.
        until(full)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    assert json.loads(smlocal_run("describe", "flood", "--json").stdout)["SecondaryStatus"] == "Stopped"


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize(("script", "code"), [("true", 1), ("exit 3", 1), (ENDLESS, 4)])
def test_an_answer_that_cannot_be_written(
    script: str, code: int, tmp_path: Path, smlocal_home: Path, smlocal_run: Run, image: Callable[[str], str]
) -> None:
    job = ("--image", image("sh"), "--name", "no-room", "-e", f"SCRIPT={script}", "--max-run", "3", "--json")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "smlocal", "run", *job],
            cwd=tmp_path,
            env={**os.environ, "SMLOCAL_HOME": str(smlocal_home)},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == code, done.stderr
    assert "standard output cannot be written: No space left on device" in done.stderr
    assert done.stderr.count("error: ") == 1
    assert "Traceback" not in done.stderr
    status = json.loads(smlocal_run("describe", "no-room", "--json").stdout)["TrainingJobStatus"]
    assert status == {"true": "Completed", "exit 3": "Failed", ENDLESS: "Stopped"}[script]


@pytest.mark.parametrize(
    ("script", "code", "said"), [("true", 0, b""), ("exit 3", 1, b"Failed: AlgorithmError: , exit code: 3\n")]
)
def test_an_answer_that_nobody_reads_changes_no_exit_code(
    script: str, code: int, said: bytes, tmp_path: Path, smlocal_home: Path, image: Callable[[str], str]
) -> None:
    job = ("--image", image("sh"), "--name", "no-reader", "-e", f"SCRIPT={script}", "--json", "--quiet")
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "smlocal", "run", *job],
            cwd=tmp_path,
            env={**os.environ, "SMLOCAL_HOME": str(smlocal_home)},
            stdout=writing,
            stderr=subprocess.PIPE,
            check=False,
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (code, said)


@pytest.mark.slow(1)
def test_output_that_cannot_be_written_is_in_the_log(
    tmp_path: Path, smlocal_home: Path, smlocal_run: Run, image: Callable[[str], str]
) -> None:
    job = ("--image", image("sh"), "--name", "no-room-output", "-e", "SCRIPT=echo here")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "smlocal", "run", *job],
            cwd=tmp_path,
            env={**os.environ, "SMLOCAL_HOME": str(smlocal_home)},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert "the output cannot be written (No space left on device)" in done.stderr
    assert smlocal_run("logs", "no-room-output").stdout == "here\n"


def test_a_detached_job_with_json_is_one_document(
    tmp_path: Path, smlocal_run: Run, image: Callable[[str], str]
) -> None:
    job = ("--image", image("sh"), "--name", "detached-json", "--output", tmp_path / "out", "-e", f"SCRIPT={ENDLESS}")
    answer = json.loads(smlocal_run("run", *job, "--detach", "--json", check=True).stdout)
    assert answer["TrainingJobName"] == "detached-json"
    assert answer["TrainingJobStatus"] == "InProgress"
    assert smlocal_run("stop", "detached-json", "--grace", "0", "--wait").returncode == 0


@pytest.mark.slow(1)
def test_the_folder_may_be_deleted_while_the_job_runs(
    tmp_path: Path, smlocal_home: Path, image: Callable[[str], str]
) -> None:
    (tmp_path / "gone").mkdir()
    script = "echo m >/opt/ml/model/m; sleep 2"
    job = ("--image", image("sh"), "--name", "folder-gone", "--output", tmp_path / "out", "-e", f"SCRIPT={script}")
    with subprocess.Popen(
        [sys.executable, "-m", "smlocal", "run", *job],
        cwd=tmp_path / "gone",
        env={**os.environ, "SMLOCAL_HOME": str(smlocal_home)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        (tmp_path / "gone").rmdir()
        said += process.stderr.read()
    assert process.returncode == 0, said
    assert "Completed" in said
