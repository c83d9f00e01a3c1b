"""How a job is followed, in situations that a real service is not brought into at will."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from smlocal.errors import ServiceForbiddenError, ServiceRefusedError, ServiceUnreachableError
from smlocal.service import following
from smlocal.service.last_lines import host_in
from smlocal.service.service import Service
from smlocal.service.submission import Followed

BEGAN = datetime(2026, 11, 20, tzinfo=UTC)
Phase = tuple[str, int, int | None]


class Said:
    """The messages to a viewer, in order."""

    def __init__(self) -> None:
        self.lines_: list[str] = []

    def phase_began(self, phase: str) -> None:
        self.lines_.append(f"● {phase}")

    def phase_ended(self, phase: str, seconds: float, detail: str, *, good: bool = True) -> None:
        self.lines_.append(f"{'✔' if good else '✗'} {phase} {seconds:g} {detail}".rstrip())

    def lines(self, host: str, data: bytes) -> None:
        self.lines_ += [f"{host}: {line}" for line in data.decode().splitlines()]

    def progress(self, text: str) -> None:
        self.lines_.append(f"  {text}")

    def working(self, text: str) -> None:
        self.lines_.append(f"… {text}")

    def warning(self, text: str) -> None:
        self.lines_.append(f"! {text}")


class Scripted(Service):
    """Answers as it was told, without a network. An exception is raised."""

    def __init__(self, answers: Sequence[Any], events: Sequence[Any] = ()) -> None:
        super().__init__(region="eu-west-1")
        self.answers, self.events = iter(answers), iter(events)

    def describe(self, job: str) -> dict[str, Any]:
        assert job == "one"
        found = next(self.answers)
        if isinstance(found, Exception):
            raise found
        return dict(found)

    def pages(self, service: str, operation: str, **arguments: Any) -> Iterator[dict[str, Any]]:
        assert (service, operation, arguments["logStreamNamePrefix"]) == ("logs", "DescribeLogStreams", "one/")
        found: Any = next(self.events, [])
        if isinstance(found, Exception):
            raise found
        self.page = found
        yield {"logStreams": [{"logStreamName": "one/algo-1-1700000000"}]}

    def call(self, service: str, operation: str, *, region: str | None = None, **arguments: Any) -> dict[str, Any]:
        assert (service, operation, region) == ("logs", "GetLogEvents", None)
        token = arguments.get("nextToken", "f/0")
        lines, self.page = self.page, []
        return {
            "events": [{"message": line} for line in lines],
            "nextForwardToken": token if not lines else f"{token}1",
        }


def answer(*phases: Phase, status: str = "InProgress", reason: str = "", hosts: int = 2) -> dict[str, Any]:
    """An answer of describe. With more hosts than there are streams, each look asks for streams."""

    def at(second: int) -> datetime:
        return BEGAN + timedelta(seconds=second)

    return {
        "TrainingJobStatus": status,
        "SecondaryStatusTransitions": [
            {"Status": name, "StartTime": at(began), **({} if ended is None else {"EndTime": at(ended)})}
            for name, began, ended in phases
        ],
        "ResourceConfig": {"InstanceCount": hosts},
        "LastModifiedTime": at(99),
        "FailureReason": reason,
    }


def followed(answers: Sequence[Any], events: Sequence[Any] = ()) -> list[str]:
    said = Said()
    found = Followed(Scripted(answers, events), "one", said, pause=0).follow(lambda: False)
    assert found is not None
    return said.lines_


def test_the_end_of_training_comes_after_the_log_and_each_phase_once() -> None:
    assert followed(
        [
            answer(("Starting", 0, None)),
            answer(("Starting", 0, 1), ("Training", 1, None)),
            answer(("Starting", 0, 1), ("Training", 1, None)),
            answer(
                ("Starting", 0, 1), ("Training", 1, 5), ("Uploading", 5, 7), ("Completed", 7, 7), status="Completed"
            ),
        ],
        [[], ["a"], ["b"], ["c"], ["late"], []],
    ) == [
        "… Starting",
        "✔ Starting 1",
        "● Training",
        "algo-1: a",
        "algo-1: b",
        "algo-1: c",
        "algo-1: late",
        "✔ Training 4",
        "✔ Uploading 2",
    ]


def test_whether_training_failed_is_known_after_the_upload() -> None:
    uploading: list[Phase] = [("Training", 1, 5), ("Uploading", 5, None)]
    ended: list[Phase] = [("Training", 1, 5), ("Uploading", 5, 7), ("Failed", 7, 7)]
    said = followed([answer(*uploading), answer(*ended, status="Failed", reason="AlgorithmError: x, exit code: 1")])
    assert said == ["… Uploading", "✗ Training 4", "✔ Uploading 2"]


@pytest.mark.parametrize(
    ("reason", "failed"), [("AlgorithmError: x, exit code: 1", "Training"), ("ClientError: x", "Uploading")]
)
def test_the_phase_that_failed_is_marked(reason: str, failed: str) -> None:
    phases: list[Phase] = [("Training", 1, 5), ("Uploading", 5, 7), ("Failed", 7, 7)]
    said = followed([answer(*phases, status="Failed", reason=reason)])
    assert [line.split()[1] for line in said if line.startswith("✗")] == [failed]


def test_a_restart_shows_its_phases_too() -> None:
    phases: list[Phase] = [("Training", 1, 5), ("Interrupted", 5, 6), ("Training", 6, 8), ("Completed", 8, 8)]
    assert followed([answer(*phases, status="Completed")]) == ["✔ Training 4", "✔ Training 2"]


def test_a_log_that_may_not_be_read_is_said_once() -> None:
    refused = ServiceForbiddenError("the AWS credentials may not do logs:DescribeLogStreams")
    said = followed([answer(), answer(), answer(status="Stopped")], [refused, refused, refused])
    assert said == ["! the log cannot be shown: the AWS credentials may not do logs:DescribeLogStreams"]


def test_a_log_that_is_not_there_yet_is_no_error() -> None:
    nothing = ServiceRefusedError("no group", code="ResourceNotFoundException")
    assert followed([answer(), answer(status="Stopped")], [nothing, ["a"], []]) == ["algo-1: a"]


def test_a_service_that_does_not_answer_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    lost = ServiceUnreachableError("SageMaker does not answer in eu-west-1")
    assert followed([lost, lost, answer(status="Stopped")]) == [
        "! SageMaker does not answer in eu-west-1: trying again"
    ]
    monkeypatch.setattr(following, "_LOST_SECONDS", -1.0)
    with pytest.raises(ServiceUnreachableError):
        followed([lost, lost])


def test_whoever_interrupts_may_go_on_where_it_was() -> None:
    said = Said()
    given = [answer(("Training", 1, None))] * 2 + [answer(("Training", 1, 5), status="Stopped")]
    job = Followed(Scripted(given, [["a"], ["b"], ["c"], []]), "one", said, pause=0)
    asked = iter([False, True, True])
    assert job.follow(lambda: next(asked)) is None
    assert said.lines_ == ["● Training", "algo-1: a"]
    assert job.follow(lambda: False) is not None
    assert said.lines_ == ["● Training", "algo-1: a", "algo-1: b", "algo-1: c", "✔ Training 4"]
    assert job.tails == {"algo-1": b"a\nb\nc\n"}


def test_the_host_of_a_stream() -> None:
    assert [host_in(each) for each in ("j/algo-1-1700000000", "j-2/algo-12-1", "j/algo-1")] == [
        "algo-1",
        "algo-12",
        "algo-1",
    ]
