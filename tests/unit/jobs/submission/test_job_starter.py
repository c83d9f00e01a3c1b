"""The process that starts jobs: what it answers, and what happens when it is gone. These jobs find no engine."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.kit import until

from smlocal.errors.of_commands import JobStarterError
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.lease import supervised
from smlocal.jobs.store.records import JobRecord
from smlocal.jobs.submission import scheduler as job_starter
from smlocal.jobs.submission.scheduler import JobStarter, Scheduler

Submit = Callable[..., JobRecord]


def until_ended(store: Store, name: str) -> JobRecord:
    until(lambda: store.get(name).status.terminal and not supervised(store.directory(name)))
    return store.get(name)


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(
    ("address", "explained"),
    [
        ("unix:///nowhere", "no Docker engine answers at unix:///nowhere"),
        ("nonsense://engine", "nonsense://engine"),
    ],
)
def test_a_job_fails_when_there_is_no_engine(
    submitted: Submit, store: Store, monkeypatch: pytest.MonkeyPatch, address: str, explained: str
) -> None:
    monkeypatch.setenv("DOCKER_HOST", address)
    submitted(InputDataConfig=None)
    with Scheduler(store) as scheduler:
        assert scheduler.start_waiting() == {"Waits": None}
        assert until_ended(store, "Waits").failure_reason == (
            "InternalServerError: We encountered an internal error. Please try again."
        )
    local = store.document("Waits", "local")
    assert explained in local["Explanation"]
    assert local["Hints"]


def test_nothing_is_wrong_with_a_job_that_has_ended(submitted: Submit, store: Store, home: Path) -> None:
    submitted(InputDataConfig=None)
    store.start_pending(now=time.time, limit=None)
    with JobStarter(str(home)) as starter:
        assert starter.start("Waits") is None
        until_ended(store, "Waits")
        assert starter.start("Waits") is None


def test_it_says_what_is_wrong_and_goes_on(home: Path) -> None:
    with JobStarter(str(home)) as starter:
        assert "nobody" in str(starter.start("nobody"))
        pid = starter.pid
        assert "someone" in str(starter.start("someone"))
        assert starter.pid == pid


@pytest.mark.slow(0.5)
def test_a_killed_one_is_replaced(submitted: Submit, store: Store, home: Path) -> None:
    submitted(InputDataConfig=None)
    store.start_pending(now=time.time, limit=None)
    with JobStarter(str(home)) as starter:
        starter.warm_up()
        first = starter.pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        assert starter.start("Waits") is None
        assert starter.pid != first
        until_ended(store, "Waits")


def test_one_that_does_not_answer_is_given_up(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_starter, "_ANSWERS_SECONDS", 0.3)
    monkeypatch.setattr(job_starter, "_ENDS_SECONDS", 0.3)
    monkeypatch.setattr(sys, "executable", "/bin/cat")
    with JobStarter(str(home)) as starter, pytest.raises(JobStarterError):
        starter.start("Waits")


@pytest.mark.slow(0.5)
def test_it_ends_with_its_owner(home: Path) -> None:
    code = f"""
import os, sys
from smlocal.jobs.submission.scheduler import JobStarter
starter = JobStarter({str(home)!r})
starter.start("nobody")
print(starter.pid, flush=True)
os.kill(os.getpid(), 9)
"""
    owner = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    pid = int(owner.stdout)
    stat = Path(f"/proc/{pid}/stat")
    until(lambda: not stat.exists() or stat.read_text().split()[2] == "Z")
