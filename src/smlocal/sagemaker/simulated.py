"""Faults of `Local.Faults` that happen before there are instances: the service's refusals, without a container."""

from typing import TYPE_CHECKING

from smlocal.base.at_use import at_use
from smlocal.errors import InstancesUnavailableError
from smlocal.jobfile.settings import Fault
from smlocal.jobs.planning.workload import Workload
from smlocal.sagemaker.contract.requested import NO_INSTANCES, selected_preference
from smlocal.sagemaker.jobfile.job_file import JobFile

if TYPE_CHECKING:
    from smlocal.jobs.submission.limit_exceeded import limit_exceeded
else:
    limit_exceeded = at_use("smlocal.jobs.submission.limit_exceeded", "limit_exceeded")


def has_capacity(job: JobFile) -> bool:
    """False if `Local.Faults` leaves no instances for the job."""
    faults, resources = job.local.Faults, job.request.ResourceConfig
    if not any(fault.Kind == NO_INSTANCES for fault in faults) or resources is None:
        return True
    if not resources.InstancePreferences:
        return False
    return selected_preference(resources.plain(), [fault.plain() for fault in faults]) is not None


def faults_to_come(job: JobFile) -> list[Fault]:
    """The faults without those that only choose another instance type."""
    chooses = has_capacity(job)
    return [fault for fault in job.local.Faults if not (chooses and fault.Kind == NO_INSTANCES)]


def refuse_above_limit(work: Workload) -> None:
    """`InstanceLimitError` for a new job, if that is simulated."""
    if any(fault.Kind == "ResourceLimitExceeded" for fault in work.local.Faults):
        raise limit_exceeded(
            work.hosts[0].instance_type,
            limit=0,
            asked=len(work.hosts),
            used=0,
            remedy="Local.Faults simulates this limit: remove ResourceLimitExceeded there.",
        )


def check_capacity(job: JobFile) -> None:
    """`InstancesUnavailableError` for a recorded job, if that is simulated."""
    if not has_capacity(job):
        raise InstancesUnavailableError(
            "Local.Faults simulates that there are no instances",
            remedy=["Remove CapacityError from Local.Faults to run the job."],
        )
