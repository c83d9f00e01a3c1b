"""What is decided about a processing job that runs, and how it ends: `jobs.kinds.Running`."""

import re
from typing import Final

from smlocal.jobs.decide.attempt_outcome import AttemptOutcome, Symptoms
from smlocal.jobs.kinds import BesideJob, JobContext
from smlocal.jobs.planning.model import HostPlan, JobPlan
from smlocal.sagemaker import running as training
from smlocal.sagemaker.contract.outcome import failure_reason
from smlocal.sagemaker.usage_block import planned_usage as usage
from smlocal.terms.failures import Failure, FailureKind
from smlocal.terms.statuses import Ending

__all__ = ["begin_rules", "docker_command", "ending", "for_attempt", "hint", "reason", "usage"]

_NOT_FOUND: Final = re.compile(r"executable file not found|no such file or directory", re.IGNORECASE)
_NO_PROGRAM: Final = 127
"""The exit code that the service reports for a program that is not there (seen)."""


def for_attempt(plan: JobPlan, number: int) -> JobPlan:  # noqa: ARG001 - nothing in it says the number
    """The same plan."""
    return plan


def begin_rules(plan: JobPlan, context: JobContext, *, first: bool) -> BesideJob | None:  # noqa: ARG001 - there are none
    """Nothing is evaluated beside a processing job."""
    return None


def ending(outcome: AttemptOutcome, failure_file: bytes) -> tuple[Ending, str | None]:  # noqa: ARG001 - see below
    """As a training job ends. The message of a program is no part of the reason (seen)."""
    if outcome.failure is not None:
        return training.ending(outcome, b"")[0], reason(outcome.failure)
    return training.ending(outcome, b"")


def reason(failure: Failure) -> str:
    """A failure that no program caused, in the service's words."""
    if failure.kind is FailureKind.START and _NOT_FOUND.search(failure.message):
        return failure_reason.algorithm_error(b"", _NO_PROGRAM)
    return training.reason(failure)


def hint(plan: JobPlan, host: HostPlan, symptoms: Symptoms) -> str | None:  # noqa: ARG001 - see below
    """The hints that there are know programs that train."""
    return None


def docker_command(plan: JobPlan) -> str | None:  # noqa: ARG001 - there is none
    """Nothing else delivers the inputs."""
    return None
