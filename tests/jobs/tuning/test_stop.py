"""Stopped, or left by the process that leads: the training jobs end, or the search goes on."""

import os
import random
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from tests.jobs.tuning.conftest import LOSS, WAIT

from smlocal.sagemaker.tuning.trials import document_kind

Gone = Callable[[str], None]


def _points(tuning: Any, name: str) -> list[str]:
    return [each["TunedHyperParameters"]["n"] for each in tuning.life.describe(name)["Local"]["TrainingJobs"]]


@pytest.mark.slow(4)
def test_a_stop_ends_the_training_jobs(tuning: Any, all_gone: Gone) -> None:
    life = tuning.life
    script = f"trap 'echo asked; exit 0' TERM; {LOSS}; sleep 100 & wait"
    assert life("run", "--detach", tuning.file("tuning-stop", script)).returncode == 0
    tuning.until_training("tuning-stop", 2)
    refused = life("rm", "tuning-stop")
    assert (refused.returncode, "[job-not-finished]" in refused.stderr) == (2, True), refused.stderr
    assert life("stop", "tuning-stop", "--wait").returncode == 0
    answer = life.describe("tuning-stop")
    assert answer["HyperParameterTuningJobStatus"] == "Stopped"
    assert answer["TrainingJobStatusCounters"]["Stopped"] == 2
    assert len(tuning.children("tuning-stop")) == 2
    assert all("asked" in life.log(each.name) for each in tuning.children("tuning-stop"))
    all_gone("tuning-stop")


@pytest.mark.slow(4)
def test_ctrl_c_stops_a_search(tuning: Any, all_gone: Gone) -> None:
    command = tuning.life.begin("run", tuning.file("tuning-ctrl-c", f"trap 'exit 0' TERM; {LOSS}; sleep 100 & wait"))
    tuning.until_training("tuning-ctrl-c", 2)
    command.send_signal(signal.SIGINT)
    command.communicate(timeout=200)
    assert command.returncode == 130
    assert {str(each.status) for each in tuning.children("tuning-ctrl-c")} == {"Stopped"}
    all_gone("tuning-ctrl-c")


@pytest.mark.slow(6)
def test_another_leader_goes_on_with_the_same_points(tuning: Any, all_gone: Gone) -> None:
    life = tuning.life
    assert life("run", "--detach", tuning.file("tuning-led", f"{LOSS}; {WAIT}")).returncode == 0
    tuning.until_training("tuning-led", 2)
    before = [each.name for each in tuning.children("tuning-led")]
    life.crash("tuning-led")
    for name in before:
        life.let_go(name)
    life.until(lambda: all(life.job(name).status.terminal for name in before))
    assert [each.name for each in tuning.children("tuning-led")] == before
    life.commands.append(life.begin("wait", "tuning-led"))
    life.until(lambda: len(tuning.children("tuning-led")) == 4)
    tuning.until_training("tuning-led", 4)
    for each in tuning.children("tuning-led")[2:]:
        life.let_go(each.name)
    answer = tuning.wait("tuning-led")
    assert answer["HyperParameterTuningJobStatus"] == "Completed"
    assert _points(tuning, "tuning-led") == ["1", "2", "3", "4"]
    assert [each.name for each in tuning.children("tuning-led")][:2] == before
    all_gone("tuning-led")


@pytest.mark.slow(3)
def test_a_stop_without_a_leader(tuning: Any, all_gone: Gone) -> None:
    life = tuning.life
    script = f"trap 'exit 0' TERM; {LOSS}; sleep 100 & wait"
    assert life("run", "--detach", tuning.file("tuning-orphan", script)).returncode == 0
    tuning.until_training("tuning-orphan", 2)
    life.crash("tuning-orphan")
    assert life("stop", "tuning-orphan", "--wait").returncode == 0
    assert {str(each.status) for each in tuning.children("tuning-orphan")} == {"Stopped"}
    all_gone("tuning-orphan")


@pytest.mark.slow(3)
def test_a_training_job_without_a_supervisor_gets_one(tuning: Any, all_gone: Gone) -> None:
    life = tuning.life
    script = f"{LOSS}; {WAIT}"
    assert life("run", "--detach", tuning.file("tuning-child", script, values=["1", "2"])).returncode == 0
    tuning.until_training("tuning-child", 2)
    life.crash(tuning.child("tuning-child", 1))
    for each in tuning.children("tuning-child"):
        life.let_go(each.name)
    assert tuning.wait("tuning-child")["TrainingJobStatusCounters"]["Completed"] == 2
    all_gone("tuning-child")


@pytest.mark.slow(20)
def test_killed_at_any_moment_no_training_job_is_made_twice_and_none_is_forgotten(tuning: Any, all_gone: Gone) -> None:
    life = tuning.life
    chance = random.Random(seed := os.urandom(4))
    for number in range(int(os.environ.get("SMLOCAL_CRASHES", "3"))):
        name = f"tuning-any-{number}"
        life.commands.append(life.begin("run", "--detach", tuning.file(name, LOSS, values=["3", "1", "2"])))
        life.until(lambda name=name: name in life.store.names())
        for _ in range(3):
            time.sleep(chance.uniform(0, 0.7))
            pid = life.job(name).supervisor_pid
            if life.job(name).status.terminal or pid is None:
                break
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            life("jobs")
        answer = tuning.wait(name)
        assert answer["HyperParameterTuningJobStatus"] == "Completed", seed
        assert _points(tuning, name) == ["3", "1", "2"], seed
        assert len(tuning.children(name)) == 3, seed
        assert answer["BestTrainingJob"]["TunedHyperParameters"] == {"n": "1"}, seed
        all_gone(name)


@pytest.mark.slow(5)
@pytest.mark.usefixtures("relayed")
def test_a_search_whose_engine_is_lost_ends_and_leaves_nothing(tuning: Any, relay: Any, all_gone: Gone) -> None:
    life = tuning.life
    assert life("run", "--detach", tuning.file("tuning-engine-gone", f"{LOSS}; {WAIT}")).returncode == 0
    tuning.until_training("tuning-engine-gone", 2)
    relay.vanish()
    life.until(lambda: life.job("tuning-engine-gone").status.terminal)
    answer = life.describe("tuning-engine-gone")
    assert answer["HyperParameterTuningJobStatus"] == "Failed"
    assert answer["FailureReason"].startswith("InternalServerError")
    assert "engine" in answer["Local"]["Explanation"]
    assert len(tuning.children("tuning-engine-gone")) <= 4
    relay.come_back()
    assert life("recover").returncode == 0
    all_gone("tuning-engine-gone")


@pytest.mark.slow(4)
def test_a_training_job_that_never_ends_is_stopped_by_its_own_limit(tuning: Any, all_gone: Gone) -> None:
    definition = {"StoppingCondition": {"MaxRuntimeInSeconds": 1}}
    script = f"trap 'exit 0' TERM; {LOSS}; sleep 100 & wait"
    done = tuning.life("run", tuning.file("tuning-endless", script, values=["1", "2"], definition=definition))
    assert done.returncode == 0, done.stderr
    answer = tuning.life.describe("tuning-endless")
    assert answer["TrainingJobStatusCounters"]["Stopped"] == 2
    assert answer["BestTrainingJob"]["TunedHyperParameters"] == {"n": "1"}
    all_gone("tuning-endless")


@pytest.mark.slow(4)
def test_an_early_stop_is_asked_for_again_after_a_kill(tuning: Any, all_gone: Gone) -> None:
    life, name = tuning.life, "tuning-early-killed"
    script = f"trap 'exit 0' TERM; {LOSS}; sleep 100 & wait"
    assert life("run", "--detach", tuning.file(name, script, values=("1",), parallel=1)).returncode == 0
    tuning.until_training(name, 1)
    life.crash(name)
    # As if it had been killed after it had stored the early stop, and before it had asked for it.
    kind = document_kind(1)
    life.store.put_document(name, kind, {**life.store.document(name, kind), "early": True})
    answer = tuning.wait(name)
    (child,) = answer["Local"]["TrainingJobs"]
    assert (child["TrainingJobStatus"], child["EarlyStopped"]) == ("Stopped", True)
    all_gone(name)
