"""A Python that runs a job: interrupted, killed, and forked by its own program."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

import smlocal
from smlocal.jobs.store.lease import supervised

STOPPABLE = "trap 'echo late >/opt/ml/model/late; exit 5' TERM; echo ready; while :; do sleep 0.05; done"
DEAF = "trap '' TERM; echo ready; while :; do sleep 0.05; done"
HELD = "echo ready; until [ -e /opt/ml/output/go ]; do sleep 0.02; done; echo done >/opt/ml/model/m"
RUN = "import sys, smlocal; print(smlocal.run(sys.argv[1]).status)"
CATCHES = """
import sys, smlocal
try:
    smlocal.run(sys.argv[1])
except KeyboardInterrupt:
    print("interrupted", smlocal.TrainingJob(sys.argv[2]).status)
"""
RAISES = f"""
import signal
class Cancelled(Exception): pass
def cancel(*_): raise Cancelled
signal.signal(signal.SIGTERM, cancel)
{CATCHES.replace("KeyboardInterrupt", "Cancelled")}
"""
FORKS = f"""
import multiprocessing, threading, time
context = multiprocessing.get_context("fork")
def child():
    while True: time.sleep(0.1)
def fork():
    import smlocal, sys
    while smlocal_ready(): time.sleep(0.02)
    process = context.Process(target=child); process.start(); print(process.pid, flush=True)
def smlocal_ready():
    import smlocal, sys
    try:
        return "ready" not in list(smlocal.TrainingJob(sys.argv[2]).logs())
    except Exception:
        return True
threading.Thread(target=fork, daemon=True).start()
{RUN}
"""
Clean = Callable[[str], None]


def begin(life: Any, code: str, name: str, script: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", code, life.job_file(name, script), name],
        cwd=life.folder,
        env=life.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_ctrl_c_stops_the_job_and_goes_on_to_the_caller(life: Any, assert_nothing_left: Clean) -> None:
    with begin(life, CATCHES, "interrupted", STOPPABLE) as process:
        life.until_logged("interrupted", "ready")
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60) == ("interrupted Stopped\n", "")
    assert [path.rpartition("/")[2] for path in life.model("interrupted")] == ["late"]
    assert_nothing_left("interrupted")


def test_a_second_ctrl_c_kills_the_job(life: Any, assert_nothing_left: Clean) -> None:
    with begin(life, CATCHES, "killed-by-python", DEAF) as process:
        life.until_logged("killed-by-python", "ready")
        process.send_signal(signal.SIGINT)
        life.until(lambda: life.job("killed-by-python").status == "Stopping")
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60) == ("interrupted Stopped\n", "")
    assert life.describe("killed-by-python")["Local"]["Hosts"][0]["Killed"]
    assert_nothing_left("killed-by-python")


def test_what_a_handler_of_the_caller_raises_stops_the_job_too(life: Any) -> None:
    with begin(life, RAISES, "cancelled", STOPPABLE) as process:
        life.until_logged("cancelled", "ready")
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=60) == ("interrupted Stopped\n", "")


def test_a_python_that_dies_leaves_a_job_that_is_taken_up(
    life: Any, monkeypatch: pytest.MonkeyPatch, assert_nothing_left: Clean
) -> None:
    monkeypatch.setenv("SMLOCAL_HOME", str(life.home))
    with begin(life, RUN, "left-by-python", HELD) as process:
        life.until_logged("left-by-python", "ready")
        process.kill()
        process.communicate(timeout=60)
    job = smlocal.TrainingJob("left-by-python")
    # The first call takes it up, in a process of its own.
    pid = job.describe()["Local"]["SupervisorPid"]
    assert pid not in {process.pid, os.getpid()}
    life.let_go("left-by-python")
    assert job.wait(60).status == "Completed"
    assert list(job.logs()) == ["ready"]
    assert_nothing_left("left-by-python")


def test_the_new_supervisor_of_such_a_job_can_be_woken(life: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMLOCAL_HOME", str(life.home))
    with begin(life, RUN, "woken", STOPPABLE) as process:
        life.until_logged("woken", "ready")
        process.kill()
        process.communicate(timeout=60)
    job = smlocal.TrainingJob("woken")
    assert job.status == "InProgress"  # the first call takes it up
    life.until(lambda: not (life.home / "jobs" / "woken" / "wakeup").exists())
    job.stop()
    assert job.wait(60).status == "Stopped"


def test_a_child_of_a_fork_does_not_hold_the_lease(life: Any) -> None:
    with begin(life, FORKS, "forked", HELD) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        try:
            assert supervised(life.store.directory("forked"))
            process.kill()
            process.wait(60)
            life.until(lambda: not supervised(life.store.directory("forked")))
        finally:
            os.kill(child, signal.SIGKILL)
    life.let_go("forked")
    assert life("recover").returncode == 0
    assert life.job("forked").status == "Completed"
