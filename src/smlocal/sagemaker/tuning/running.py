"""What is decided about a tuning job that runs, and how it ends: `jobs.kinds.Running`."""

from collections.abc import Collection
from typing import Any, assert_never

from smlocal.jobs.decide.attempt_outcome import AttemptOutcome, Symptoms
from smlocal.jobs.kinds import BesideJob, JobContext
from smlocal.jobs.planning.model import HostPlan, JobPlan
from smlocal.sagemaker.contract.outcome import failure_reason
from smlocal.terms.failures import Failure, FailureKind
from smlocal.terms.statuses import COMPLETED, FAILED, STOPPED, Ending


def for_attempt(plan: JobPlan, number: int) -> JobPlan:  # noqa: ARG001 - there is one attempt
    """The same plan."""
    return plan


def begin_rules(plan: JobPlan, context: JobContext, *, first: bool) -> BesideJob | None:  # noqa: ARG001 - there are none
    """Rules are evaluated beside training jobs."""
    return None


def ending(outcome: AttemptOutcome, failure_file: bytes) -> tuple[Ending, str | None]:  # noqa: ARG001 - there is none
    """How a tuning job ends whose search has not decided it."""
    if outcome.failure is not None:
        return FAILED, reason(outcome.failure)
    if outcome.stopped is not None:
        return STOPPED[outcome.stopped], None
    return COMPLETED, None


def reason(failure: Failure) -> str:
    """The FailureReason of a failure that no training job caused."""
    match failure.kind:
        case FailureKind.INTERNAL | FailureKind.START | FailureKind.IMAGE:
            return failure_reason.INTERNAL_ERROR
        case FailureKind.INPUT:
            return failure.message
        case FailureKind.CAPACITY:
            return failure_reason.NO_CAPACITY
        case _:
            assert_never(failure.kind)


def hint(plan: JobPlan, host: HostPlan, symptoms: Symptoms) -> str | None:  # noqa: ARG001 - it has no host
    """Training jobs have hints."""
    return None


def usage(plan: JobPlan, killed: Collection[str]) -> dict[str, Any] | None:  # noqa: ARG001 - it has no host
    """Training jobs have usage."""
    return None


def docker_command(plan: JobPlan) -> str | None:  # noqa: ARG001 - it has no container
    """Training jobs have one."""
    return None
