"""From what the hosts did to how the job ends. Pure."""

from typing import assert_never

from smlocal.contract.failures import Failure, FailureKind
from smlocal.contract.statuses import COMPLETED, FAILED, STOPPED, Ending
from smlocal.job.decide.attempt_outcome import KILLED, AttemptOutcome
from smlocal.platforms.sagemaker.contract.outcome import failure_reason


def ending(outcome: AttemptOutcome, failure_file: bytes) -> tuple[Ending, str | None]:
    """The status a job ends with, and its FailureReason. A recorded stop is never turned into a host's failure."""
    if outcome.failure is not None:
        return FAILED, reason_of(outcome.failure)
    if outcome.first_failure is not None:
        end = next(end for end in outcome.ends if end.host == outcome.first_failure)
        if end.oom_killed and end.exit_code == KILLED:
            return FAILED, failure_reason.OUT_OF_MEMORY
        return FAILED, failure_reason.algorithm_error(failure_file, end.exit_code)
    if outcome.stopped is not None:
        return STOPPED[outcome.stopped], None
    return COMPLETED, None


def reason_of(failure: Failure) -> str:
    """The FailureReason of a failure that no program caused."""
    match failure.kind:
        case FailureKind.INTERNAL:
            return failure_reason.INTERNAL_ERROR
        case FailureKind.INPUT:
            return failure_reason.client_error(failure.message)
        case FailureKind.IMAGE:
            return failure_reason.CANNOT_PULL
        case FailureKind.START:
            return failure_reason.cannot_start(failure.message)
        case FailureKind.CAPACITY:
            return failure_reason.NO_CAPACITY
        case _:
            assert_never(failure.kind)
