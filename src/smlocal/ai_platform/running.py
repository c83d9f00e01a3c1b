"""The decisions of this platform about a running job: `jobs.kinds.Running`. Most of it is its lifecycle's."""

from collections.abc import Collection
from typing import Any

from smlocal.ai_platform.run.stored_lifecycle import reason_of
from smlocal.jobs.decide.attempt_outcome import AttemptOutcome, Symptoms
from smlocal.jobs.kinds import BesideJob, JobContext
from smlocal.jobs.planning.model import HostPlan, JobPlan
from smlocal.terms.failures import Failure
from smlocal.terms.statuses import FAILED, Ending


def for_attempt(plan: JobPlan, number: int) -> JobPlan:  # noqa: ARG001 - nothing in it says the number
    """The same plan."""
    return plan


def begin_rules(plan: JobPlan, context: JobContext, *, first: bool) -> BesideJob | None:  # noqa: ARG001 - has none
    """Nothing is evaluated beside these jobs."""
    return None


def ending(outcome: AttemptOutcome, failure_file: bytes) -> tuple[Ending, str | None]:  # noqa: ARG001 - the lifecycle decides
    """The answer for a job that smlocal could not run: the lifecycle decides about all others."""
    return FAILED, reason_of(None, "")


def reason(failure: Failure) -> str:
    """A failure that no program caused."""
    return reason_of(None, failure.message)


def hint(plan: JobPlan, host: HostPlan, symptoms: Symptoms) -> str | None:  # noqa: ARG001 - see below
    """`check` knows images of the other platform only."""
    return None


def usage(plan: JobPlan, killed: Collection[str]) -> dict[str, Any] | None:  # noqa: ARG001 - see below
    """There is no advice on machine types; the series are in the job's folder."""
    return None


def docker_command(plan: JobPlan) -> str | None:  # noqa: ARG001 - there is none
    """Several containers cannot be one command."""
    return None
