"""What is decided about an endpoint that runs, and how it ends: `jobs.kinds.Running`."""

from collections.abc import Collection
from typing import Any, assert_never

from smlocal.jobs.decide.attempt_outcome import AttemptOutcome, Symptoms
from smlocal.jobs.kinds import BesideJob, JobContext
from smlocal.jobs.planning.model import HostPlan, JobPlan
from smlocal.sagemaker.contract.outcome import failure_reason
from smlocal.sagemaker.hosting import facts
from smlocal.terms.failures import Failure, FailureKind
from smlocal.terms.statuses import FAILED, STOPPED, Ending, StopCause

_NO_IMAGE = "The image of the primary container cannot be pulled."


def for_attempt(plan: JobPlan, number: int) -> JobPlan:  # noqa: ARG001 - nothing in it says the number
    """The same plan."""
    return plan


def begin_rules(plan: JobPlan, context: JobContext, *, first: bool) -> BesideJob | None:  # noqa: ARG001 - there are none
    """Nothing is evaluated beside an endpoint."""
    return None


def ending(outcome: AttemptOutcome, failure_file: bytes) -> tuple[Ending, str | None]:  # noqa: ARG001 - there is none
    """How an endpoint ends: its supervisor decides that, this is what the protocol asks for."""
    if outcome.failure is not None:
        return FAILED, reason(outcome.failure)
    return STOPPED[outcome.stopped or StopCause.REQUEST], None


def reason(failure: Failure) -> str:
    """A failure of an endpoint whose variant is not known."""
    return reason_of(failure, facts.VARIANT)


def reason_of(failure: Failure, variant: str, called: str = facts.PRIMARY) -> str:
    """The FailureReason of a failure that no program caused."""
    match failure.kind:
        case FailureKind.INTERNAL:
            return failure_reason.INTERNAL_ERROR
        case FailureKind.INPUT:
            return failure.message
        case FailureKind.IMAGE:
            return _NO_IMAGE
        case FailureKind.START:
            return facts.not_healthy(variant, called)
        case FailureKind.CAPACITY:
            return failure_reason.NO_CAPACITY
        case _:
            assert_never(failure.kind)


def hint(plan: JobPlan, host: HostPlan, symptoms: Symptoms) -> str | None:  # noqa: ARG001 - see below
    """The hints that there are know programs that train."""
    return None


def usage(plan: JobPlan, killed: Collection[str]) -> dict[str, Any] | None:  # noqa: ARG001 - see below
    """There is no advice on machine types; the series are in the folder of the endpoint."""
    return None


def docker_command(plan: JobPlan) -> str | None:  # noqa: ARG001 - there is none
    """The folder with the model is gone when an endpoint has ended."""
    return None
