"""Somebody who reads nothing keeps nobody from stopping the job."""

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

Run = Callable[..., "subprocess.CompletedProcess[str]"]

FLOOD = "trap 'exit 0' TERM; while :; do echo 0123456789012345678901234567890123456789012345678901234567890123; done"


@contextmanager
def unread(
    home: Path, cwd: Path, *arguments: str, both: bool = False
) -> Iterator[tuple["subprocess.Popen[bytes]", Callable[[], bool]]]:
    """A run whose stdout is a pipe that nobody reads, and what says whether nothing more goes into that."""
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
        # Twenty seconds were what waiting for the reader took; a minute is for slow machines.
        assert process.wait(60) == 4
        said = process.stderr.read().decode() if process.stderr is not None else ""
    answer = json.loads(smlocal_run("describe", "flood", "--json").stdout)
    assert answer["SecondaryStatus"] == "MaxRuntimeExceeded"
    training = next(t for t in answer["SecondaryStatusTransitions"] if t["Status"] == "Training")
    assert training["EndTime"] - training["StartTime"] < 10
    assert not any(host["Killed"] for host in answer["Local"]["Hosts"])
    if not both:
        assert "MaxRuntimeInSeconds is over" in said
        assert "nobody reads the output" in said
        assert "Stopped (MaxRuntimeExceeded) in " in said
    assert_nothing_left("flood")


def test_a_signal_stops_it(
    tmp_path: Path, smlocal_home: Path, smlocal_run: Run, image: Callable[[str], str], wait_for: Callable[..., None]
) -> None:
    job = ("--image", image("sh"), "--name", "flood", "-e", f"SCRIPT={FLOOD}")
    with unread(smlocal_home, tmp_path, *job) as (process, full):
        # How many bytes that takes depends on how they come: a page of the pipe is not always filled.
        wait_for(full)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    assert json.loads(smlocal_run("describe", "flood", "--json").stdout)["SecondaryStatus"] == "Stopped"
