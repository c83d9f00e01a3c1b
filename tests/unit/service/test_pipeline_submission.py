"""A pipeline on the service: made or updated, and followed, by a service that answers what a test wants."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.unit.service.aws_answers import Answer, Answers, aws_answering

from smlocal.errors import ServiceRefusedError
from smlocal.jobfile.document import Document
from smlocal.service.pipeline_submission import FollowedPipeline, PipelinePlan, find, plan_pipeline, put, stop
from smlocal.service.service import Service

ROLE = "arn:aws:iam::123456789012:role/P"
PIPELINE = "arn:aws:sagemaker:eu-west-1:123456789012:pipeline/held"
ARN = f"{PIPELINE}/execution/abcdefghijkl"
BEGAN = 1_700_000_000.0
DEFINITION: dict[str, Any] = {
    "Version": "2020-12-01",
    "Steps": [{"Name": "Stop", "Type": "Fail", "Arguments": {"ErrorMessage": "no"}}],
}
UNKNOWN = (400, {"__type": "ResourceNotFound", "message": "Pipeline 'held' does not exist."})
EXISTS = (400, {"__type": "ValidationException", "message": "Pipeline with name (held) already exists."})
DENIED = (400, {"__type": "AccessDeniedException", "message": "no"})
THERE = {"PipelineName": "held", "PipelineArn": PIPELINE, "RoleArn": ROLE, "PipelineDefinition": json.dumps(DEFINITION)}


@contextmanager
def service(answers: Answers, user: pytest.MonkeyPatch) -> Iterator[Service]:
    with aws_answering(answers) as address:
        user.setenv("AWS_ENDPOINT_URL", address)
        found = Service(region="eu-west-1")
        try:
            yield found
        finally:
            found.close()


def plan(**more: Any) -> PipelinePlan:
    data = {"PipelineName": "held", "PipelineDefinition": json.dumps(DEFINITION, indent=1), **more}
    return plan_pipeline(Document(data, name="pipeline.json", directory="/"), name=None, role=ROLE, region="eu-west-1")


def changed(**more: Any) -> dict[str, Any]:
    return {**THERE, "PipelineDefinition": json.dumps({**DEFINITION, "Metadata": {}}), **more}


@pytest.mark.parametrize(
    ("there", "tags", "done", "calls"),
    [
        (None, [], "created", ["CreatePipeline"]),
        (THERE, [], "unchanged", []),
        ({**THERE, "PipelineDescription": "an old one"}, [], "unchanged", []),
        (changed(), [], "updated", ["UpdatePipeline"]),
        ({**THERE, "RoleArn": f"{ROLE}2"}, [], "updated", ["UpdatePipeline"]),
        ({**THERE, "PipelineDefinition": "Version: 1"}, [], "updated", ["UpdatePipeline"]),
        (THERE, [{"Key": "team", "Value": "a"}], "unchanged", ["AddTags"]),
        (changed(), [{"Key": "team", "Value": "a"}], "updated", ["UpdatePipeline", "AddTags"]),
    ],
)
def test_a_pipeline_is_created_updated_or_left(
    there: dict[str, Any] | None, tags: Any, done: str, calls: list[str], aws_user: pytest.MonkeyPatch
) -> None:
    called: list[str] = []

    def noted(name: str, answer: dict[str, Any]) -> Callable[[dict[str, Any]], Answer]:
        def answered(_: dict[str, Any]) -> Answer:
            called.append(name)
            return 200, answer

        return answered

    answers: Answers = {
        "DescribePipeline": UNKNOWN if there is None else (200, there),
        **{name: noted(name, {"PipelineArn": PIPELINE}) for name in ("CreatePipeline", "UpdatePipeline")},
        "AddTags": noted("AddTags", {"Tags": tags}),
    }
    asked = plan(**({"Tags": tags} if tags else {}))
    with service(answers, aws_user) as aws:
        assert put(aws, asked, find(aws, "held")) == done
    assert called == calls


def test_one_that_was_made_since_is_updated(aws_user: pytest.MonkeyPatch) -> None:
    with service({"CreatePipeline": EXISTS, "UpdatePipeline": (200, {"PipelineArn": PIPELINE})}, aws_user) as aws:
        assert put(aws, plan(), None) == "updated"
    refused = (400, {"__type": "ValidationException", "message": "no"})
    with service({"CreatePipeline": refused}, aws_user) as aws, pytest.raises(ServiceRefusedError):
        put(aws, plan(), None)


def test_an_execution_that_has_ended_need_not_be_stopped(aws_user: pytest.MonkeyPatch) -> None:
    late = (400, {"__type": "ValidationException", "message": "Only pipelines with 'Executing' status can be stopped."})
    for status, is_late in (("Succeeded", True), ("Stopping", True), ("Executing", False)):
        answers: Answers = {
            "StopPipelineExecution": late,
            "DescribePipelineExecution": (200, {"PipelineExecutionStatus": status}),
        }
        with service(answers, aws_user) as aws:
            if is_late:
                stop(aws, ARN)
            else:
                with pytest.raises(ServiceRefusedError):
                    stop(aws, ARN)


class Shown:
    """What was shown, as lines."""

    def __init__(self) -> None:
        self.lines_: list[str] = []

    def phase_began(self, phase: str) -> None:
        """Of no execution."""

    def phase_ended(self, phase: str, seconds: float, detail: str, *, good: bool = True) -> None:
        """As above."""

    def lines(self, host: str, data: bytes) -> None:
        """As above."""

    def progress(self, text: str) -> None:
        self.lines_.append(text)

    def working(self, text: str) -> None:
        self.lines_.append(f"… {text}")

    def warning(self, text: str) -> None:
        self.lines_.append(f"! {text}")

    def step_changed(self, step: str, status: str, seconds: float | None, detail: str) -> None:
        self.lines_.append(" ".join(filter(None, (step, status, "" if seconds is None else f"{seconds:g} s", detail))))


def step(name: str, status: str, seconds: float | None = None, **more: Any) -> dict[str, Any]:
    ended = {} if seconds is None else {"EndTime": BEGAN + seconds}
    return {"StepName": name, "StepStatus": status, "StartTime": BEGAN, "AttemptCount": 1, **ended, **more}


def job(name: str) -> dict[str, Any]:
    return {"TrainingJob": {"Arn": f"arn:aws:sagemaker:eu-west-1:123456789012:training-job/{name}"}}


LOOKS: list[tuple[str, list[dict[str, Any]]]] = [
    ("Executing", []),
    ("Executing", [step("Train", "Starting")]),
    ("Executing", [step("Train", "Executing", Metadata=job("pipelines-a"))]),
    ("Executing", [step("Train", "Executing", Metadata=job("pipelines-b"), AttemptCount=2)]),
    (
        "Executing",
        [
            step("Ask", "Executing", Metadata={"Callback": {"CallbackToken": "token12345"}}),
            step("Train", "Succeeded", 30, Metadata=job("pipelines-b"), AttemptCount=2),
        ],
    ),
    (
        "Stopping",
        [
            step("Ask", "Stopping", Metadata={"Callback": {"CallbackToken": "token12345"}}),
            step("Train", "Succeeded", 30, Metadata=job("pipelines-b"), AttemptCount=2),
        ],
    ),
    (
        "Failed",
        [
            step("Old", "Succeeded", 0, CacheHitResult={"SourcePipelineExecutionArn": f"{PIPELINE}/execution/old"}),
            step("Is", "Succeeded", 0, Metadata={"Condition": {"Outcome": "True"}}),
            step("Quick", "Failed", 2, Metadata=job("pipelines-c"), FailureReason="ClientError: no"),
            step("Ask", "Stopped", 9),
            step("Train", "Succeeded", 30, Metadata=job("pipelines-b"), AttemptCount=2),
        ],
    ),
]
SAID = """\
… Executing: no step yet
… Executing: 1 starting (Train)
Train Executing pipelines-a
… Executing: 1 executing (Train)
Train is tried again, attempt 2: pipelines-b
… Executing: 1 executing (Train)
Train Succeeded 30 s
Ask Executing waits for an answer:  aws sagemaker send-pipeline-execution-step-success --callback-token token12345
… Executing: 1 executing, 1 succeeded (Ask)
Ask: Stopping, waits for an answer:  aws sagemaker send-pipeline-execution-step-success --callback-token token12345
… Stopping: 1 stopping, 1 succeeded (Ask)
Ask Stopped 9 s
Quick Failed 2 s pipelines-c: ClientError: no
Is Succeeded 0 s true
Old Succeeded 0 s from the cache: old
"""


def test_each_change_of_a_step_is_a_line(aws_user: pytest.MonkeyPatch) -> None:
    looks = iter(LOOKS)
    now: list[Any] = []

    def execution(_: dict[str, Any]) -> Answer:
        now[:] = next(looks)
        return 200, {"PipelineExecutionArn": ARN, "PipelineExecutionStatus": now[0]}

    answers: Answers = {
        "DescribePipelineExecution": execution,
        "ListPipelineExecutionSteps": lambda _: (200, {"PipelineExecutionSteps": now[1]}),
    }
    shown = Shown()
    with service(answers, aws_user) as aws:
        answer = FollowedPipeline(aws, ARN, shown, pause=0.0).follow(lambda: False)
    assert answer is not None
    assert answer["PipelineExecutionStatus"] == "Failed"
    assert "\n".join(shown.lines_) == SAID.rstrip()


def test_steps_that_may_not_be_listed_do_not_end_the_command(aws_user: pytest.MonkeyPatch) -> None:
    states = iter(["Executing", "Executing", "Succeeded"])
    answers: Answers = {
        "DescribePipelineExecution": lambda _: (200, {"PipelineExecutionStatus": next(states)}),
        "ListPipelineExecutionSteps": DENIED,
    }
    shown = Shown()
    with service(answers, aws_user) as aws:
        assert FollowedPipeline(aws, ARN, shown, pause=0.0).follow(lambda: False) is not None
    denied = "! steps cannot be shown: the AWS credentials may not do sagemaker:ListPipelineExecutionSteps"
    assert shown.lines_ == [denied, *["… Executing"] * 2]
