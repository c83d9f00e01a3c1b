"""The decisions of SageMaker about a job that runs, and how it ends: `jobs.kinds.Running`."""

from typing import assert_never

from smlocal.jobs.decide.attempt_outcome import KILLED, AttemptOutcome, Symptoms
from smlocal.jobs.kinds import BesideJob, JobContext
from smlocal.jobs.planning.model import HostPlan, JobPlan
from smlocal.sagemaker.contract.outcome import failure_reason
from smlocal.sagemaker.plan import for_attempt
from smlocal.sagemaker.script import docker_command as command
from smlocal.sagemaker.usage_block import planned_usage as usage
from smlocal.terms.failures import Failure, FailureKind
from smlocal.terms.statuses import COMPLETED, FAILED, STOPPED, Ending

__all__ = ["begin_rules", "docker_command", "ending", "for_attempt", "hint", "reason", "usage"]


def begin_rules(plan: JobPlan, context: JobContext, *, first: bool) -> BesideJob | None:
    """Evaluate the debugger rules beside the job."""
    if not plan.rules.each:
        return None
    from smlocal.sagemaker.rules_of_job import begin_rules as begin  # the room of the debugger

    return begin(plan, context, first=first)


def ending(outcome: AttemptOutcome, failure_file: bytes) -> tuple[Ending, str | None]:
    """The status a job ends with, and its FailureReason. A recorded stop is never turned into a host's failure."""
    if outcome.failure is not None:
        return FAILED, reason(outcome.failure)
    if outcome.first_failure is not None:
        end = next(end for end in outcome.ends if end.host == outcome.first_failure)
        if end.oom_killed and end.exit_code == KILLED:
            return FAILED, failure_reason.OUT_OF_MEMORY
        return FAILED, failure_reason.algorithm_error(failure_file, end.exit_code)
    if outcome.stopped is not None:
        return STOPPED[outcome.stopped], None
    return COMPLETED, None


def reason(failure: Failure) -> str:
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


def hint(plan: JobPlan, host: HostPlan, symptoms: Symptoms) -> str | None:
    """From the image, the request and the log."""
    from smlocal.sagemaker.hints import hint as hint_of  # after a failure only: dozens of patterns

    return hint_of(plan, host, symptoms)


def docker_command(plan: JobPlan) -> str | None:
    """The `docker run` that starts a failed job again, or the command that prints a script; None on several engines."""
    if plan.engines.several:
        return None

    return command(plan)
