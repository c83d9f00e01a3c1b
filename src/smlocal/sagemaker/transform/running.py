"""What is decided about a transform job that runs, and how it ends: `jobs.kinds.Running`."""

from typing import assert_never

from smlocal.jobs.decide.attempt_outcome import AttemptOutcome
from smlocal.sagemaker.contract.outcome import failure_reason
from smlocal.sagemaker.hosting.running import begin_rules, docker_command, for_attempt, hint, usage
from smlocal.sagemaker.transform import facts
from smlocal.terms.failures import Failure, FailureKind
from smlocal.terms.statuses import COMPLETED, FAILED, STOPPED, Ending

__all__ = ["begin_rules", "docker_command", "ending", "for_attempt", "hint", "reason", "usage"]


def ending(outcome: AttemptOutcome, failure_file: bytes) -> tuple[Ending, str | None]:  # noqa: ARG001 - there is none
    """How a job ends. What became of its objects is a failure by then."""
    if outcome.failure is not None:
        return FAILED, reason(outcome.failure)
    if outcome.stopped is not None:
        return STOPPED[outcome.stopped], None
    if outcome.first_failure is not None:
        return FAILED, facts.SEE_LOGS
    return COMPLETED, None


def reason(failure: Failure) -> str:
    """The FailureReason of a failure that no program caused."""
    match failure.kind:
        case FailureKind.INTERNAL:
            return failure_reason.INTERNAL_ERROR
        case FailureKind.INPUT:
            return failure.message
        case FailureKind.IMAGE:
            return failure_reason.CANNOT_PULL
        case FailureKind.START:
            return facts.NO_PING
        case FailureKind.CAPACITY:
            return failure_reason.NO_CAPACITY
        case _:
            assert_never(failure.kind)
