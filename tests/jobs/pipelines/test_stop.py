"""Stopped, or left by the process that leads: the jobs of steps end, or the execution goes on."""

import os
import random
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from tests.jobs.pipelines.conftest import WAIT

Gone = Callable[[str], None]


@pytest.mark.slow(4)
def test_a_stop_ends_the_jobs_of_steps(pipelines: Any, all_gone: Gone) -> None:
    steps = [pipelines.training(name, f"echo up; {WAIT}") for name in ("One", "Two")]
    steps.append(pipelines.training("After", DependsOn=["One"]))
    execution = pipelines.detach("stops", steps)
    pipelines.until_running(execution, 2)
    assert pipelines.life("stop", execution, "--wait").returncode == 0
    assert pipelines.wait(execution) == "Stopped"
    assert pipelines.rows(execution) == ["One Stopped", "Two Stopped"]
    all_gone(execution)


@pytest.mark.slow(4)
def test_ctrl_c_stops_an_execution(pipelines: Any, all_gone: Gone) -> None:
    command = pipelines.life.begin("run", pipelines.file("ctrl-c", [pipelines.training("One", f"echo up; {WAIT}")]))
    pipelines.life.until(lambda: any(each.startswith("ctrl-c-") for each in pipelines.life.store.names()))
    execution = pipelines.newest("ctrl-c")
    pipelines.until_running(execution, 1)
    command.send_signal(signal.SIGINT)
    command.communicate(timeout=200)
    assert command.returncode == 130
    assert pipelines.rows(execution) == ["One Stopped"]
    all_gone(execution)


@pytest.mark.slow(4)
def test_a_stop_without_a_leader(pipelines: Any, all_gone: Gone) -> None:
    execution = pipelines.detach("left-alone", [pipelines.training("One", f"echo up; {WAIT}")])
    pipelines.until_running(execution, 1)
    pipelines.life.crash(execution)
    assert pipelines.life("stop", execution, "--wait").returncode == 0
    assert pipelines.rows(execution) == ["One Stopped"]
    all_gone(execution)


@pytest.mark.slow(4)
def test_containers_find_s3_again_after_their_leader_was_killed(pipelines: Any, all_gone: Gone) -> None:
    """The leader answers containers that are told of a bucket on this machine, as those of `@step` are."""
    life = pipelines.life
    (life.home / "buckets" / "own").mkdir(parents=True)
    ask = "wget -q -O - $AWS_ENDPOINT_URL_S3 2>&1 | grep -q"
    script = (
        f"until {ask} 403; do :; done; echo up; until {ask} refused; do :; done; echo lost; until {ask} 403; do :; done"
    )
    one = pipelines.training("One", arguments={"Environment": {"SCRIPT": script, "DATA": "s3://own/data"}})
    execution = pipelines.detach("asks", [one])
    pipelines.until_running(execution, 1)
    life.crash(execution)
    life.until(lambda: "lost" in life.log(pipelines.child(execution, "One")))
    assert pipelines.wait(execution) == "Succeeded"
    all_gone(execution)


@pytest.mark.slow(20)
def test_killed_at_any_moment_nothing_is_made_twice_and_nothing_is_forgotten(pipelines: Any, all_gone: Gone) -> None:
    life = pipelines.life
    chance = random.Random(seed := os.urandom(4))
    limit = {"Type": "LessThan", "LeftValue": 1, "RightValue": {"Get": "Parameters.Limit"}}
    for number in range(int(os.environ.get("SMLOCAL_CRASHES", "3"))):
        container = {"Image": life.image, "ModelDataUrl": {"Get": "Steps.First.ModelArtifacts.S3ModelArtifacts"}}
        model = {"ExecutionRoleArn": "arn:aws:iam::111122223333:role/R", "PrimaryContainer": container}
        steps = [
            pipelines.training("First", "echo m > /opt/ml/model/m"),
            pipelines.training("Beside"),
            {
                "Name": "Small",
                "Type": "Condition",
                "Arguments": {
                    "Conditions": [limit],
                    "IfSteps": [pipelines.training("Last", DependsOn=["First"])],
                    "ElseSteps": [],
                },
            },
            {"Name": "Model", "Type": "Model", "Arguments": model},
        ]
        name = f"any-{number}"
        file = pipelines.file(name, steps, Parameters=[{"Name": "Limit", "Type": "Integer", "DefaultValue": 5}])
        life.commands.append(life.begin("run", "--detach", file))
        life.until(lambda name=name: any(each.startswith(f"{name}-") for each in life.store.names()))
        execution = pipelines.newest(name)
        for _ in range(3):
            time.sleep(chance.uniform(0, 0.6))
            pid = life.job(execution).supervisor_pid
            if life.job(execution).status.terminal or pid is None:
                break
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            life("jobs")
        assert pipelines.wait(execution) == "Succeeded", seed
        ended = sorted(pipelines.rows(execution))
        assert ended == [f"{each} Succeeded" for each in ("Beside", "First", "Last", "Model", "Small")], seed
        assert len(pipelines.children(execution)) == 3, seed
        assert len([each for each in life.store.resources("model") if each.name == _model(pipelines, execution)]) == 1
        all_gone(execution)


def _model(pipelines: Any, execution: str) -> str:
    return str(pipelines.steps(execution)["Model"].answer["ModelName"])
