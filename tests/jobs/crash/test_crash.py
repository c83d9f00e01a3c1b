"""The supervisor killed -9 anywhere, and the engine with it: the job still comes to its true end, once."""

import json
import os
import random
import signal
import time
from collections.abc import Callable
from typing import Any

import pytest

from smlocal.jobs.store.lease import supervised

INTERNAL = "InternalServerError: We encountered an internal error. Please try again."
CRASHES = int(os.environ.get("SMLOCAL_CRASHES", "20"))
AT_ONCE = 5
COUNTS = "i=0; while [ $i -lt 40 ]; do i=$((i+1)); echo line $i; sleep 0.02; done; echo $i >/opt/ml/model/count"
HELD = COUNTS.replace("sleep", "[ $i != 20 ] || until [ -e /opt/ml/output/go ]; do sleep 0.02; done; sleep")
"""Half-way it waits for `life.let_go`, so that it cannot be over while somebody looks."""
LINES = [f"line {number}" for number in range(1, 41)]
SAVES = "trap 'echo late >/opt/ml/model/late; exit 5' TERM; echo ready; while :; do sleep 0.05; done"
TRAINED = ["Starting", "Downloading", "Training"]
Clean = Callable[[str], None]


def gone(life: Any, name: str) -> bool:
    (summary,) = (
        each
        for each in json.loads(life("jobs", "--json").stdout)["TrainingJobSummaries"]
        if each["TrainingJobName"] == name
    )
    return bool(summary.get("SupervisorGone", False))


def check_end(life: Any, name: str, *, wrote: bool) -> None:
    """Completed with everything, if it had begun to train; else an internal error."""
    job = life.job(name)
    if job.status == "Completed":
        assert life.log(name).splitlines() == LINES
        assert [path.rpartition("/")[2] for path in life.model(name)] == ["count"]
        assert life.phases(name) == [*TRAINED, "Uploading", "Completed"]
    else:
        assert not wrote, f"{name} had begun to train and is {job.status}: {job.failure_reason}"
        assert (job.status, job.failure_reason) == ("Failed", INTERNAL)
        answer = life.describe(name)
        assert "killed" in answer["Local"]["Explanation"]
    folder = sorted(path.name for path in (life.home / "jobs" / name).iterdir() if path.name != "usage")
    # The first may be missing, and half of it there, where the last thing before the end was killed: a copy.
    whole = {path for path in folder if not path.endswith(".partial")}
    assert whole <= {"describe.json", "logs", "plan.json", "request.json"}


def decided(life: Any, name: str) -> bool:
    return life.store.document(name, "local") is not None or life.job(name).status.terminal


def catch(life: Any, phase: str) -> str:
    """Kill a supervisor in that phase; a job that slipped through is followed by another."""
    for number in range(10):
        name = f"edge-{number}"
        life.launch(name, COUNTS)
        if phase == "wrote":
            life.until_logged(name, "line 3\n")
        elif phase == "decided":
            life.until(lambda name=name: decided(life, name))
        else:
            life.until_phase(name, phase)
        life.crash(name)
        if not life.job(name).status.terminal:
            return name
    pytest.fail(f"no job was caught in the phase {phase}")


@pytest.mark.slow(2)
@pytest.mark.parametrize("phase", ["Starting", "Downloading", "Training", "wrote", "Uploading", "decided"])
def test_killed_at_a_phase_boundary(life: Any, assert_nothing_left: Clean, phase: str) -> None:
    name = catch(life, phase)
    wrote = bool(life.log(name))
    assert wrote or phase in {"Starting", "Downloading", "Training"}
    assert gone(life, name)
    assert "supervisor gone" in life("jobs").stdout
    done = life("recover")
    assert done.returncode == 0
    assert name in done.stderr
    check_end(life, name, wrote=wrote)
    assert_nothing_left(name)
    assert not gone(life, name)
    assert "No job needs recovery" in life("recover").stderr


def test_killed_while_stopping(life: Any, assert_nothing_left: Clean) -> None:
    script = "trap 'sleep 0.5; echo late >/opt/ml/model/late; exit 5' TERM; echo ready; while :; do sleep 0.05; done"
    life.detach("halted", script)
    life.until_logged("halted", "ready")
    assert life("stop", "halted").returncode == 0
    life.crash("halted")
    assert life("recover").returncode == 0
    assert life.job("halted").status == "Stopped"
    assert life.phases("halted") == [*TRAINED, "Stopping", "Uploading", "Stopped"]
    assert [path.rpartition("/")[2] for path in life.model("halted")] == ["late"]
    assert_nothing_left("halted")


@pytest.mark.slow(5)
@pytest.mark.long
def test_killed_at_random_moments(life: Any, assert_nothing_left: Clean) -> None:
    seed = random.randrange(2**32)
    moments = random.Random(seed)
    for batch in range(0, CRASHES, AT_ONCE):
        names = [f"random-{number}" for number in range(batch, min(batch + AT_ONCE, CRASHES))]
        wrote, was = {}, {}
        schedule = {}
        for name in names:
            life.launch(name, COUNTS)
            schedule[name] = time.monotonic() + moments.uniform(0, 2.5)
        for name, at in sorted(schedule.items(), key=lambda item: item[1]):
            time.sleep(max(0.0, at - time.monotonic()))
            life.crash(name)
            wrote[name], was[name] = bool(life.log(name)), life.job(name).phase
        for name in moments.sample(names, 2):
            assert life.describe(name)["TrainingJobName"] == name
        assert life("recover").returncode == 0
        life("wait", *names)
        for name in names:
            try:
                check_end(life, name, wrote=wrote[name])
                assert_nothing_left(name)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}, {name} killed in {was[name]}: {error}") from error


def test_describe_names_the_supervisor_and_brings_another(life: Any, assert_nothing_left: Clean) -> None:
    life.detach("named", HELD)
    life.until_logged("named", "line 1\n")
    first = life.describe("named")["Local"]["SupervisorPid"]
    os.kill(first, 0)
    life.crash("named")
    life.describe("named")
    life.until(lambda: life.job("named").supervisor_pid != first)
    second = life.describe("named")["Local"]["SupervisorPid"]
    os.kill(second, 0)
    life.let_go("named")
    assert life("wait", "named").returncode == 0
    check_end(life, "named", wrote=True)
    assert_nothing_left("named")


def test_the_second_supervisor_is_killed_too(life: Any, assert_nothing_left: Clean) -> None:
    life.detach("again", HELD)
    life.until_logged("again", "line 1\n")
    for _ in range(3):
        before = life.job("again").supervisor_pid
        life.crash("again")
        life.describe("again")
        life.until(lambda before=before: life.job("again").supervisor_pid != before)
    life.let_go("again")
    assert life("wait", "again").returncode == 0
    check_end(life, "again", wrote=True)
    assert_nothing_left("again")


def test_logs_bring_another_supervisor_and_miss_nothing(life: Any, assert_nothing_left: Clean) -> None:
    life.detach("read", COUNTS)
    with life.begin("logs", "-f", "read") as reader:
        life.until_logged("read", "line 5\n")
        life.crash("read")
        out, err = reader.communicate(timeout=60)
    assert (reader.returncode, out.splitlines()) == (0, LINES), err
    check_end(life, "read", wrote=True)
    assert_nothing_left("read")


def test_it_ended_while_nobody_looked(life: Any, docker: Callable[..., str], assert_nothing_left: Clean) -> None:
    waits = "until [ -e /opt/ml/output/go ]; do sleep 0.02; done"
    life.detach("unseen", f"echo out of luck >/opt/ml/output/failure; echo ready; {waits}; exit 9")
    life.until_logged("unseen", "ready")
    life.crash("unseen")
    life.let_go("unseen")
    (container,) = docker("ps", "--all", "--quiet", "--filter", "label=smlocal.job=unseen").split()
    docker("wait", container)
    assert life("wait", "unseen").returncode == 1
    assert life.job("unseen").failure_reason == "AlgorithmError: out of luck\n, exit code: 9"
    assert_nothing_left("unseen")


@pytest.mark.slow(2)
def test_a_runtime_that_passed_meanwhile(life: Any, assert_nothing_left: Clean) -> None:
    life.detach("late", SAVES, StoppingCondition={"MaxRuntimeInSeconds": 2})
    life.until_logged("late", "ready")
    life.crash("late")
    time.sleep(2.2)
    assert life("wait", "late").returncode == 4
    assert life.phases("late") == [*TRAINED, "Stopping", "Uploading", "MaxRuntimeExceeded"]
    assert [path.rpartition("/")[2] for path in life.model("late")] == ["late"]
    assert_nothing_left("late")


def test_a_stop_of_an_orphan(life: Any, assert_nothing_left: Clean) -> None:
    life.detach("orphan", SAVES)
    life.until_logged("orphan", "ready")
    life.crash("orphan")
    assert life("stop", "orphan").returncode == 0
    assert life("wait", "orphan").returncode == 4
    assert life.phases("orphan") == [*TRAINED, "Stopping", "Uploading", "Stopped"]
    assert [path.rpartition("/")[2] for path in life.model("orphan")] == ["late"]
    assert_nothing_left("orphan")


@pytest.mark.slow(1)
def test_a_deaf_orphan_is_killed_after_its_grace(life: Any, assert_nothing_left: Clean) -> None:
    life.detach("deaf-orphan", "trap '' TERM; echo ready; while :; do sleep 0.05; done")
    life.until_logged("deaf-orphan", "ready")
    assert life("stop", "deaf-orphan", "--grace", "1").returncode == 0
    life.crash("deaf-orphan")
    assert life("recover").returncode == 0
    answer = life.describe("deaf-orphan")
    assert answer["SecondaryStatus"] == "Stopped"
    assert answer["Local"]["Hosts"][0]["ExitCode"] == 137
    assert_nothing_left("deaf-orphan")


@pytest.mark.slow(2)
def test_two_hosts_one_of_which_failed_unseen(
    life: Any, docker: Callable[..., str], assert_nothing_left: Clean
) -> None:
    script = "echo ready; until [ -e /opt/ml/output/go ]; do sleep 0.05; done; exit 6"
    life.detach("peers", script, hosts=2, Local={"PeerGraceSeconds": 1})
    for host in ("algo-1", "algo-2"):
        life.until_logged("peers", "ready", host)
    life.crash("peers")
    life.let_go("peers", "algo-2")
    life.until(lambda: len(docker("ps", "--quiet", "--filter", "label=smlocal.job=peers").split()) == 1)
    assert life("wait", "peers").returncode == 1
    assert life.job("peers").failure_reason == "AlgorithmError: , exit code: 6"
    assert_nothing_left("peers")


def test_killed_in_the_foreground(life: Any, assert_nothing_left: Clean) -> None:
    with life.begin("run", life.job_file("front", COUNTS)) as command:
        life.until(lambda: life.store.count() == 1)
        life.until_logged("front", "line 2\n")
        command.send_signal(signal.SIGKILL)
        command.communicate(timeout=60)
    assert life("recover").returncode == 0
    check_end(life, "front", wrote=True)
    assert_nothing_left("front")


@pytest.mark.slow(3)
@pytest.mark.long
def test_the_supervisor_is_killed_and_the_engine_restarts(own_engine: Any, life_on: Callable[[Any], Any]) -> None:
    life = life_on(own_engine)
    life.detach("both", "echo ready; sleep 600")
    life.until_logged("both", "ready")
    life.crash("both")
    own_engine.kill()
    own_engine.start()
    assert life("wait", "both").returncode == 1
    job = life.job("both")
    assert (job.status, job.failure_reason) == ("Failed", INTERNAL)
    assert "engine" in life.describe("both")["Local"]["Explanation"]
    assert own_engine.docker("ps", "--all", "--quiet", "--filter", "label=smlocal.job=both") == ""


@pytest.mark.slow(3)
@pytest.mark.long
def test_the_engine_is_away_when_the_job_is_touched(own_engine: Any, life_on: Callable[[Any], Any]) -> None:
    life = life_on(own_engine)
    life.detach("away", "echo ready; sleep 600")
    life.until_logged("away", "ready")
    life.crash("away")
    own_engine.kill()
    assert life.describe("away")["TrainingJobStatus"] == "InProgress"
    assert life("wait", "away", "--timeout", "1").returncode == 124
    life.until(lambda: not supervised(life.store.directory("away")))  # whom the wait has called has given up
    done = life("recover")
    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr
    own_engine.start()
    assert life("recover").returncode == 0
    assert (life.job("away").status, life.job("away").failure_reason) == ("Failed", INTERNAL)
    assert own_engine.docker("ps", "--all", "--quiet", "--filter", "label=smlocal.job=away") == ""


def hidden(life: Any, name: str) -> list[str]:
    """The half-written files of a job."""
    folders = (life.folder / "out" / name / "output", life.home / "jobs" / name, life.home / "jobs" / name / "logs")
    return [str(path) for folder in folders if folder.exists() for path in folder.iterdir() if "partial" in path.name]


@pytest.mark.slow(2)
@pytest.mark.parametrize("compression", ["GZIP", "NONE"])
def test_killed_while_packing(life: Any, assert_nothing_left: Clean, compression: str) -> None:
    output = {"S3OutputPath": "./out", "CompressionType": compression}
    script = "head -c 300000000 /dev/urandom >/opt/ml/model/m; for i in $(seq 2000); do echo $i >/opt/ml/model/$i; done"
    for number in range(10):
        name = f"packing-{compression.lower()}-{number}"
        life.detach(name, script, OutputDataConfig=output)
        life.until(lambda name=name: bool(hidden(life, name)) or life.job(name).status.terminal)
        life.crash(name)
        if hidden(life, name):
            break
    else:
        pytest.fail("no job was caught while it packed")
    # As if another job of this name, of another home, was packing at this moment.
    other = life.folder / "out" / name / "output" / ".model.tar.gz-fedcba98-01234567.partial"
    other.touch()
    assert life("recover").returncode == 0
    assert life.job(name).status == "Completed"
    assert hidden(life, name) == [str(other)]
    assert_nothing_left(name)


def test_killed_while_the_last_copy_is_written(life: Any) -> None:
    """The job has ended, so that it is not adopted."""
    life.detach("copied", "exit 0")
    assert life("wait", "copied").returncode == 0
    life.until(lambda: not supervised(life.store.directory("copied")))
    copy = life.home / "jobs" / "copied" / "describe.json"
    whole = copy.read_text()
    copy.rename(f"{copy}.partial")
    copy.with_name("describe.json.partial").write_text(whole[:100])
    assert life("recover").returncode == 0
    assert hidden(life, "copied") == []
    assert json.loads(copy.read_text()) == json.loads(whole)
