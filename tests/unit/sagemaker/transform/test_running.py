"""How transform jobs end, in the service's words."""

import pytest

from smlocal.jobs.decide.attempt_outcome import AttemptOutcome
from smlocal.sagemaker.transform import facts
from smlocal.sagemaker.transform.running import RUNNING
from smlocal.terms.statuses import (
    CANNOT_PULL,
    INTERNAL_ERROR,
    NO_CAPACITY,
    Failure,
    FailureKind,
    JobStatus,
    StopCause,
    input_failure,
)


@pytest.mark.parametrize(
    ("outcome", "status", "reason"),
    [
        (AttemptOutcome(), JobStatus.COMPLETED, None),
        (AttemptOutcome(stopped=StopCause.REQUEST), JobStatus.STOPPED, None),
        (AttemptOutcome(first_failure="algo-1"), JobStatus.FAILED, facts.SEE_LOGS),
        (AttemptOutcome(failure=input_failure("why")), JobStatus.FAILED, "why"),
        (AttemptOutcome(failure=Failure(kind=FailureKind.START)), JobStatus.FAILED, facts.NO_PING),
    ],
)
def test_the_outcome_decides(outcome: AttemptOutcome, status: JobStatus, reason: str | None) -> None:
    ended, why = RUNNING.ending(outcome, b"")
    assert (ended.status, why) == (status, reason)


@pytest.mark.parametrize(
    ("failure", "begins"),
    [(INTERNAL_ERROR, "InternalServerError: "), (CANNOT_PULL, "ClientError: "), (NO_CAPACITY, "CapacityError: ")],
)
def test_failures_that_no_program_caused(failure: Failure, begins: str) -> None:
    _, why = RUNNING.ending(AttemptOutcome(failure=failure), b"")
    assert why is not None
    assert why.startswith(begins)


def test_a_line_of_the_data_log() -> None:
    assert (
        facts.logged(1602648499.163, "bucket/key: text") == "2020-10-14T04:08:19.163:[sagemaker logs]: bucket/key: text"
    )
    assert list(facts.bad_status(400, "a\nb\n")) == ["ClientError: 400", "", "Message:", "a", "b"]
    assert facts.bad_status(503, "")[0] == "Bad HTTP status received from algorithm: 503"
