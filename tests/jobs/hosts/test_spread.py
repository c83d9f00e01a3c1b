"""Searches, pipelines and jobs of clients whose jobs run whole on one of several engines."""

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.doors.remote.conftest import relaying
from tests.jobs.hosting.conftest import Hosting
from tests.jobs.pipelines.conftest import Pipelines
from tests.jobs.transform.conftest import Transforms
from tests.jobs.tuning.conftest import LOSS, WAIT, Tuning
from tests.kit.life import Life
from tests.kit.own_engine import OwnEngine

from smlocal.sagemaker.contract.outcome.reasons import NO_CAPACITY

SILENT = "unix:///nowhere/docker.sock"
HELD = f'{LOSS}; case " $HELD " in *" $n "*) {WAIT};; esac'
"""A training job of a search that writes its loss, and waits if it is one of those that are held."""


@pytest.fixture
def engines(own_engine: OwnEngine, image: Callable[[str], str]) -> Iterator[tuple[OwnEngine, OwnEngine]]:
    """Two, of which the first has the image."""
    own_engine.load(image("sh"))
    second = OwnEngine()
    try:
        second.start()
        yield own_engine, second
    finally:
        second.close()


@pytest.fixture
def spread(tmp_path: Path, image: Callable[[str], str]) -> Iterator[Life]:
    """A home without another engine, which learns within seconds that one is lost."""
    environment = {"DOCKER_HOST": SILENT, "SMLOCAL_ENGINE_TIMEOUT": "8"}
    life = Life(folder=tmp_path, home=tmp_path / "home", image=image("sh"), environment=environment)
    yield life
    life.end()


def over(*engines: OwnEngine, **local: Any) -> dict[str, Any]:
    return {"Local": {"SpreadOver": [each.address for each in engines], **local}}


def held(*numbers: str) -> dict[str, Any]:
    return {"Environment": {"SCRIPT": HELD, "HELD": " ".join(numbers)}}


def engine_of(life: Life, name: str) -> str:
    placement: Mapping[str, str] = life.describe(name)["Local"]["Placement"]
    assert [*placement] == ["algo-1"]
    return placement["algo-1"]


@pytest.mark.slow(6)
def test_a_search_uses_all_engines_that_answer(spread: Life, engines: tuple[OwnEngine, OwnEngine]) -> None:
    first, second = engines
    tuning = Tuning(life=spread)
    local = {"SpreadOver": [first.address, SILENT, second.address], "EngineInstances": 2}
    path = tuning.file("spread", LOSS, parallel=4, definition=held("1", "2", "3", "4"), Local=local)
    planned = " ".join(spread("plan", path).stdout.split())
    assert f"each job runs whole on one of 3 engines: {first.address}, {SILENT}, {second.address}" in planned
    assert f"{SILENT} does not answer, and gets no jobs until it does: " in planned
    assert spread("run", "--detach", path).returncode == 0
    tuning.until_training("spread", 4)
    names = [each.name for each in tuning.children("spread")]
    used = {name: engine_of(spread, name) for name in names}
    assert sorted(used.values()) == sorted([first.address, second.address] * 2)
    for engine in engines:  # whole: where it is said to be
        there = engine.docker("ps", "--format", '{{.Label "smlocal.job"}}').split()
        assert sorted(there) == sorted(name for name, address in used.items() if address == engine.address)
    running = spread("jobs").stdout
    assert running.count(f"on {first.address}"[:12]) == 4, running
    supervisor = spread.job(names[0]).supervisor_pid
    assert supervisor is not None
    os.kill(supervisor, signal.SIGKILL)  # the next one finds the engine in the plan
    spread.until(lambda: spread.job(names[0]).supervisor_pid != supervisor)
    for name in names:
        spread.let_go(name)
    answer = tuning.wait("spread")
    assert answer["TrainingJobStatusCounters"]["Completed"] == 4
    notes = {note["Id"]: note["Text"] for note in answer["Local"]["Notes"]}
    assert SILENT in notes["engine-silent"]
    assert "one of 3 engines" in notes["spread-over"]
    notes = {note["Id"]: note["Text"] for note in spread.describe(names[0])["Local"]["Notes"]}
    assert f"most free room of 3 engines (Local.SpreadOver); no answer from {SILENT}" in notes["spread-over"]
    assert {name: engine_of(spread, name) for name in names} == used
    assert f"Engine {used[names[0]]}" in " ".join(spread("describe", names[0]).stdout.split())
    assert f"on {used[names[0]]}"[:12] in spread("jobs").stdout
    assert all(engine.docker("ps", "--all", "--quiet") == "" for engine in engines)


@pytest.mark.slow(10)
@pytest.mark.long
def test_a_search_goes_on_when_an_engine_is_lost_and_uses_it_again(
    spread: Life, engines: tuple[OwnEngine, OwnEngine]
) -> None:
    lost, other = engines
    tuning = Tuning(life=spread)
    values = ["1", "2", "3", "4"]
    local = over(lost, other, EngineInstances=1)
    path = tuning.file("lost", LOSS, values=values, definition=held(*values), **local)
    assert spread("run", "--detach", path).returncode == 0
    tuning.until_training("lost", 2)
    (there,) = (each.name for each in tuning.children("lost") if engine_of(spread, each.name) == lost.address)
    (here,) = (each.name for each in tuning.children("lost")[:2] if each.name != there)
    lost.kill()
    spread.until(lambda: spread.job(there).status.terminal)
    assert spread.job(there).failure_reason == NO_CAPACITY
    assert "engine" in spread.describe(there)["Local"]["Explanation"]
    spread.let_go(here)

    def last() -> list[str]:
        """The third and the fourth, as far as they run: which is the first to find room is not said."""
        return [each.name for each in tuning.children("lost")[2:] if "loss=" in spread.log(each.name)]

    spread.until(lambda: len(tuning.children("lost")) == 4 and bool(last()))
    (name,) = last()
    assert engine_of(spread, name) == other.address
    lost.start()
    spread.until(lambda: len(last()) == 2)
    assert {engine_of(spread, name) for name in last()} == {lost.address, other.address}
    for name in last():
        spread.let_go(name)
    answer = tuning.wait("lost")
    assert answer["HyperParameterTuningJobStatus"] == "Completed"
    counters = answer["TrainingJobStatusCounters"]
    assert (counters["Completed"], counters["RetryableError"]) == (3, 1)
    assert spread("recover").returncode == 0
    assert all(engine.docker("ps", "--all", "--quiet") == "" for engine in engines)


@pytest.mark.slow(6)
def test_what_this_machine_calls_runs_on_an_engine_of_this_machine(life: Life, image: Callable[[str], str]) -> None:
    hosting = Hosting(life=life, image=image("serve"))
    transforms = Transforms(life=life, image=image("transform"))
    transforms.data({"a.csv": "1,2\n"})
    with relaying() as elsewhere:
        remote = elsewhere.address
        local = {"SpreadOver": [remote, "default"]}
        path = life.job_file("remote", "echo hello", Local=local)
        assert life("run", path).returncode == 0
        assert transforms.completed("transformed", Local=local)
        hosting.archive()
        path = hosting.model_file("served-by-two")
        path.write_text(json.dumps({**json.loads(path.read_text()), "Local": {**local, "Serving": {"Key": False}}}))
        deployed = life("deploy", path, "--name", "served-by-two")
        assert deployed.returncode == 0, deployed.stderr
        assert hosting.invoke("served-by-two").returncode == 0
        used = {name: engine_of(life, name) for name in ("remote", "transformed")}
        served = life.describe("served-by-two")["Local"]["Placement"]
        assert life("rm", "--stop", "served-by-two").returncode == 0
    assert used == {"remote": remote, "transformed": "default"}
    assert {*served.values()} == {"default"}


@pytest.mark.slow(4)
@pytest.mark.long
@pytest.mark.parametrize("supervised", [True, False])
def test_without_an_engine_a_search_ends_and_says_so(spread: Life, own_engine: OwnEngine, *, supervised: bool) -> None:
    own_engine.load(spread.image)
    tuning = Tuning(life=spread)
    path = tuning.file("alone", LOSS, parallel=1, definition=held("1"), **over(own_engine))
    assert spread("run", "--detach", path).returncode == 0
    tuning.until_training("alone", 1)
    supervisor = spread.job(tuning.child("alone", 1)).supervisor_pid
    if not supervised and supervisor is not None:  # as when this machine restarts, too
        os.kill(supervisor, signal.SIGKILL)
    own_engine.kill()
    answer = tuning.wait("alone")
    assert answer["HyperParameterTuningJobStatus"] == "Failed"
    assert "none of the engines of Local.SpreadOver answers" in answer["Local"]["Explanation"]
    (child,) = tuning.children("alone")
    assert child.failure_reason == NO_CAPACITY
    refused = spread("run", path, "--name", "alone-again")
    assert (refused.returncode, "none of the engines" in refused.stderr) == (3, True), refused.stderr


@pytest.mark.slow(3)
def test_a_job_that_waits_for_room_is_stopped_with_its_search(spread: Life, own_engine: OwnEngine) -> None:
    own_engine.load(spread.image)
    tuning = Tuning(life=spread)
    path = tuning.file("full", LOSS, definition=held("1", "2"), **over(own_engine, EngineInstances=1))
    assert spread("run", "--detach", path).returncode == 0
    tuning.until_training("full", 1)
    spread.until(
        lambda: len(tuning.children("full")) == 2 and all(not each.pending for each in tuning.children("full"))
    )
    assert spread("stop", "full", "--grace", "0").returncode == 0
    assert tuning.wait("full")["HyperParameterTuningJobStatus"] == "Stopped"
    assert sorted(each.started is None for each in tuning.children("full")) == [False, True]
    assert {each.status for each in tuning.children("full")} == {"Stopped"}
    too_large = spread("run", spread.job_file("large", "true", hosts=2, **over(own_engine, EngineInstances=1)))
    assert (too_large.returncode, "engines-too-small" in too_large.stderr) == (3, True), too_large.stderr
    whole = spread("run", spread.job_file("whole", "true", hosts=2, **over(own_engine)), "--json")
    assert whole.returncode == 0, whole.stderr
    assert json.loads(whole.stdout)["Local"]["Placement"] == dict.fromkeys(["algo-1", "algo-2"], own_engine.address)


@pytest.mark.slow(5)
@pytest.mark.long
def test_a_step_whose_engine_is_lost_is_tried_again_on_another(
    spread: Life, engines: tuple[OwnEngine, OwnEngine]
) -> None:
    lost, other = engines
    other.load(spread.image)  # what only the lost one has is lost with it
    pipelines = Pipelines(life=spread)
    retries = [{"ExceptionType": ["SageMaker.CAPACITY_ERROR"], "IntervalSeconds": 1, "MaxAttempts": 2}]
    steps = [
        pipelines.processing("Prepare", "true"),
        pipelines.training("Train", f"echo here; {WAIT}", DependsOn=["Prepare"], RetryPolicies=retries),
    ]
    execution = pipelines.detach("steps", steps, **over(lost, other))
    spread.until(lambda: any("here" in spread.log(name) for name in jobs(spread, "Train")))
    (first,) = jobs(spread, "Train")
    assert engine_of(spread, first) == lost.address
    lost.kill()
    spread.until(lambda: any("here" in spread.log(name) for name in jobs(spread, "Train") if name != first))
    (again,) = (name for name in jobs(spread, "Train") if name != first)
    assert spread.job(first).failure_reason == NO_CAPACITY
    assert engine_of(spread, again) == other.address
    spread.let_go(again)
    assert spread("wait", execution).returncode == 0
    assert engine_of(spread, jobs(spread, "Prepare")[0]) == lost.address


def jobs(life: Life, step: str) -> list[str]:
    """The jobs that a step has made, the oldest first."""
    return [each.name for each in reversed(life.store.list()) if f"-{step}-" in each.name]


_CLIENT = """
import boto3, json, sys
client = boto3.client("sagemaker")
request = json.loads(sys.argv[1])
for name in ("one", "two"):
    client.create_training_job(**request, TrainingJobName=name)
for name in ("one", "two"):
    client.get_waiter("training_job_completed_or_stopped").wait(TrainingJobName=name, WaiterConfig={"Delay": 1})
client.create_pipeline(
    PipelineName="p", RoleArn=request["RoleArn"], ClientRequestToken="1" * 32, PipelineDefinition=sys.argv[2]
)
arn = client.start_pipeline_execution(PipelineName="p", ClientRequestToken="1" * 32)["PipelineExecutionArn"]
while client.describe_pipeline_execution(PipelineExecutionArn=arn)["PipelineExecutionStatus"] == "Executing":
    pass
"""


@pytest.mark.slow(5)
def test_jobs_of_a_program_run_on_the_engines_of_its_command(
    spread: Life, engines: tuple[OwnEngine, OwnEngine]
) -> None:
    step = Pipelines(life=spread).training("Train")
    definition = json.dumps({"Version": "2020-12-01", "Steps": [step]})
    request = json.dumps({**step["Arguments"], "Environment": {"SCRIPT": f"echo here; {WAIT}"}})
    flags = [word for address in (SILENT, *(each.address for each in engines)) for word in ("--engine", address)]
    spread.environment["AWS_DEFAULT_REGION"] = "eu-west-1"
    command = ["exec", *flags, "--engine-instances", "1", "--", sys.executable, "-c", _CLIENT, request, definition]
    program = spread.begin(*command)
    for name in ("one", "two"):
        spread.until(lambda name=name: "here" in spread.log(name))  # type: ignore[misc]
    for name in ("one", "two"):
        spread.let_go(name)
    _, said = program.communicate(timeout=240)
    assert program.returncode == 0, said
    assert f"{SILENT} does not answer, and gets no jobs until it does" in said
    assert {engine_of(spread, "one"), engine_of(spread, "two")} == {each.address for each in engines}
    assert engine_of(spread, jobs(spread, "Train")[0]) in {each.address for each in engines}
