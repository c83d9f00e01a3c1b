"""A second supervisor of a job: it does nothing while the engine does not answer well, and then has the true times."""

import json
import os
import shutil
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from tests.jobs.crash.test_crash import INTERNAL, SAVES, TRAINED, Clean

from smlocal.api.training_job import TrainingJob
from smlocal.jobs.control.orphans import is_orphan

ENDS = "echo ready; until [ -e /opt/ml/output/go ]; do sleep 0.02; done; echo done >/opt/ml/model/m"
CONTAINERS = "^GET /v[0-9.]+/containers/json"
LOOK = "^GET /v[0-9.]+/containers/[0-9a-f]+/json"


def containers(docker: Any, name: str) -> list[str]:
    return list(docker("ps", "--quiet", "--filter", f"label=smlocal.job={name}").split())


def running(docker: Any, name: str) -> bool:
    return bool(containers(docker, name))


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize("call", [CONTAINERS, LOOK])
def test_a_busy_engine_is_asked_again(
    relayed: Any, relay: Any, docker: Any, assert_nothing_left: Clean, call: str
) -> None:
    name = f"busy-{os.urandom(3).hex()}"
    relayed.detach(name, ENDS)
    relayed.until_logged(name, "ready")
    relayed.crash(name)
    relay.refuse(call, times=2)  # by count: it asks again for ten seconds, which a busy machine may take for nothing
    recovery = relayed.begin("recover")
    relayed.until(lambda: relay.refused == 2)
    assert running(docker, name)
    relayed.let_go(name)
    _, err = recovery.communicate(timeout=200)
    assert recovery.returncode == 0, err
    assert relayed.job(name).status == "Completed"
    assert_nothing_left(name)


@pytest.mark.slow(2)
def test_an_engine_that_stays_busy_costs_no_training(
    relayed: Any, relay: Any, docker: Any, assert_nothing_left: Clean
) -> None:
    relayed.detach("healthy", ENDS)
    relayed.until_logged("healthy", "ready")
    relayed.crash("healthy")
    relay.refuse(CONTAINERS)
    done = relayed("recover")
    assert done.returncode == 3, done.stderr
    assert "[job-not-adopted]" in done.stderr
    assert "the engine is busy" in done.stderr
    assert "Traceback" not in done.stderr
    assert relayed.job("healthy").status == "InProgress"
    assert running(docker, "healthy")
    relay.refuse("")
    relayed.let_go("healthy")
    assert relayed("recover").returncode == 0
    assert relayed.job("healthy").status == "Completed"
    assert_nothing_left("healthy")


@pytest.mark.slow(2)
def test_what_an_engine_does_not_let_go_is_not_removed(
    relayed: Any, relay: Any, docker: Any, assert_nothing_left: Clean
) -> None:
    relayed.detach("held-fast", ENDS)
    relayed.until_logged("held-fast", "ready")
    relayed.crash("held-fast")
    relay.refuse(CONTAINERS)
    done = relayed("rm", "--stop", "held-*")
    assert done.returncode == 3, done.stderr
    assert "[job-not-adopted]" in done.stderr
    assert running(docker, "held-fast")
    relay.refuse("")
    done = relayed("rm", "--stop", "held-*")
    assert (done.returncode, done.stderr) == (0, "removed held-fast\n")
    assert_nothing_left("held-fast")


@pytest.mark.slow(2)
@pytest.mark.parametrize(
    "words",
    [
        ("recover",),
        ("wait", "fixes-jobs-gone"),
        ("stop", "--wait", "fixes-jobs-gone"),
        ("rm", "--stop", "fixes-jobs-gone"),
    ],
    ids=lambda words: words[0],
)
def test_a_job_whose_folder_was_deleted_ends(
    words: tuple[str, ...], life: Any, docker: Any, assert_nothing_left: Clean
) -> None:
    for name in ("fixes-jobs-gone", "fixes-jobs-there"):
        life.detach(name, ENDS)
        life.until_logged(name, "ready")
        life.crash(name)
    shutil.rmtree(life.home / "jobs" / "fixes-jobs-gone")
    life.let_go("fixes-jobs-there")
    done = life(*words)
    assert "Traceback" not in done.stderr
    if words[0] == "rm":
        assert (done.returncode, done.stderr) == (0, "removed fixes-jobs-gone\n")
    else:
        answer = life.describe("fixes-jobs-gone")
        assert (answer["TrainingJobStatus"], answer["FailureReason"]) == ("Failed", INTERNAL)
        assert "was deleted" in answer["Local"]["Explanation"]
    assert not running(docker, "fixes-jobs-gone")
    assert_nothing_left("fixes-jobs-gone")
    assert life("recover").returncode == 0
    assert life.job("fixes-jobs-there").status == "Completed"
    assert_nothing_left("fixes-jobs-there")


def test_another_engine_is_not_asked_about_the_job(relayed: Any, assert_nothing_left: Clean) -> None:
    relayed.detach("elsewhere", ENDS)
    relayed.until_logged("elsewhere", "ready")
    relayed.crash("elsewhere")
    relayed.environment["DOCKER_HOST"] = "unix:///nowhere/docker.sock"
    relayed.let_go("elsewhere")
    assert relayed("recover").returncode == 0
    assert relayed.job("elsewhere").status == "Completed"
    assert_nothing_left("elsewhere")


@pytest.mark.slow(1)
def test_times_of_a_job_that_ended_while_nobody_looked(life: Any, docker: Any, assert_nothing_left: Clean) -> None:
    """Each phase as long as its transition says, and training no longer than the container."""
    life.detach("timed", ENDS)
    life.until_logged("timed", "ready")
    life.crash("timed")
    life.let_go("timed")
    (container,) = docker("ps", "--all", "--quiet", "--filter", "label=smlocal.job=timed").split()
    docker("wait", container)
    finished = datetime.fromisoformat(docker("inspect", "--format", "{{.State.FinishedAt}}", container).strip())
    time.sleep(2)
    assert life("recover").returncode == 0
    answer = life.describe("timed")
    phases = {each["Status"]: each for each in answer["SecondaryStatusTransitions"]}
    assert list(phases) == [*TRAINED, "Uploading", "Completed"]
    assert phases["Training"]["EndTime"] == pytest.approx(finished.timestamp(), abs=0.002)
    assert phases["Uploading"]["StartTime"] == phases["Training"]["EndTime"]
    took = answer["Local"]["Seconds"]
    assert list(took) == [*TRAINED, "Uploading"]
    for name in TRAINED:
        # Two clocks, read one after the other; a wrong one would be the two seconds off.
        assert took[name] == pytest.approx(phases[name]["EndTime"] - phases[name]["StartTime"], abs=1)
    assert took["Uploading"] >= 2
    assert_nothing_left("timed")


def test_the_end_of_training_of_a_failed_job_is_its_containers(life: Any, docker: Any) -> None:
    life.detach("failed", ENDS + "; exit 3")
    life.until_logged("failed", "ready")
    life.crash("failed")
    life.let_go("failed")
    (container,) = docker("ps", "--all", "--quiet", "--filter", "label=smlocal.job=failed").split()
    docker("wait", container)
    finished = datetime.fromisoformat(docker("inspect", "--format", "{{.State.FinishedAt}}", container).strip())
    time.sleep(1)
    assert life("recover").returncode == 0
    answer = life.describe("failed")
    assert answer["FailureReason"] == "AlgorithmError: , exit code: 3"
    assert answer["TrainingEndTime"] == pytest.approx(finished.timestamp(), abs=0.002)


@pytest.mark.slow(2)
def test_a_job_that_ended_in_time_is_in_time(life: Any, docker: Any, assert_nothing_left: Clean) -> None:
    """However late anybody looks."""
    for limit in (5, 15, 45):  # on a busy machine the container may need more time
        name = f"in-time-{limit}"
        life.detach(name, ENDS, StoppingCondition={"MaxRuntimeInSeconds": limit})
        life.until_logged(name, "ready")
        life.crash(name)
        life.let_go(name)
        (container,) = docker("ps", "--all", "--quiet", "--filter", f"label=smlocal.job={name}").split()
        docker("wait", container)
        ended = datetime.fromisoformat(docker("inspect", "--format", "{{.State.FinishedAt}}", container).strip())
        began = next(each.started for each in life.store.transitions(name) if each.status == "Training")
        if ended.timestamp() < began + limit - 1:
            break
    time.sleep(max(0.0, began + limit + 1 - time.time()))
    assert life("recover").returncode == 0
    assert life.job(name).status == "Completed"
    assert life.phases(name) == [*TRAINED, "Uploading", "Completed"]
    assert_nothing_left(name)


@pytest.mark.slow(2)
def test_hosts_that_had_ended_are_not_signalled(life: Any, docker: Any, assert_nothing_left: Clean) -> None:
    """The first failure stops its peers, but not those that ended by themselves before the supervisor looked."""
    script = r"""host=$(sed 's/.*"current_host":"\([^"]*\)".*/\1/' /opt/ml/input/config/resourceconfig.json)
    echo ready; until [ -e /opt/ml/output/go ]; do sleep 0.02; done; [ $host = algo-1 ] && exit 6; exit 0"""
    life.detach("ended", script, hosts=3, Local={"PeerGraceSeconds": 1})
    for host in ("algo-1", "algo-2", "algo-3"):
        life.until_logged("ended", "ready", host)
    life.crash("ended")
    for host, running in (("algo-1", 2), ("algo-2", 1)):
        life.let_go("ended", host)
        life.until(lambda left=running: len(containers(docker, "ended")) == left)
    assert life("recover").returncode == 0
    assert life.job("ended").failure_reason == "AlgorithmError: , exit code: 6"
    hosts = {each["Name"]: each for each in life.describe("ended")["Local"]["Hosts"]}
    assert {name: host["Signalled"] for name, host in hosts.items()} == {
        "algo-1": False,
        "algo-2": False,
        "algo-3": True,
    }
    assert {name: host["ExitCode"] for name, host in hosts.items()} == {"algo-1": 6, "algo-2": 0, "algo-3": 137}
    assert_nothing_left("ended")


def test_a_stop_of_a_container_that_had_ended_signals_nobody(
    life: Any, docker: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMLOCAL_HOME", str(life.home))
    life.detach("too-late", ENDS)
    life.until_logged("too-late", "ready")
    life.crash("too-late")
    life.let_go("too-late")
    (container,) = docker("ps", "--all", "--quiet", "--filter", "label=smlocal.job=too-late").split()
    docker("wait", container)
    assert TrainingJob("too-late").spoken.job == "training job"
    assert is_orphan(life.store, life.job("too-late"))  # else a supervisor might complete the job before the stop
    assert life("stop", "too-late").returncode == 0
    assert life("wait", "too-late").returncode == 4
    (host,) = life.describe("too-late")["Local"]["Hosts"]
    assert (host["ExitCode"], host["Signalled"], host["Killed"]) == (0, False, False)


@pytest.mark.slow(1)
def test_signals_of_the_first_supervisor_are_remembered(life: Any) -> None:
    life.detach("remembered", SAVES.replace("exit 5", "sleep 600"))
    life.until_logged("remembered", "ready")
    assert life("stop", "remembered", "--grace", "1").returncode == 0
    life.until(lambda: len([e for e in life.store.events("remembered") if e.kind == "signal"]) == 2)
    life.crash("remembered")
    life("recover")
    (host,) = life.describe("remembered")["Local"]["Hosts"]
    assert (host["ExitCode"], host["Signalled"], host["Killed"]) == (137, True, True)


def test_the_files_of_the_result_are_written_by_whoever_finishes_the_job(life: Any, tmp_path: Path) -> None:
    result, junit = tmp_path / "result.json", tmp_path / "junit.xml"
    life.detach("told-late", ENDS, flags=("--report", str(result), "--junit", str(junit)))
    life.until_logged("told-late", "ready")
    life.crash("told-late")
    assert not result.exists()
    life.let_go("told-late")
    assert life("recover").returncode == 0
    life.until(lambda: result.exists() and junit.exists())
    assert json.loads(result.read_text())["TrainingJobStatus"] == "Completed"
    assert 'tests="1"' in junit.read_text()
    assert 'failures="0"' in junit.read_text()
