"""Faults of `Local.Faults` that happen before there are instances: the service's refusals, without a container."""

from smlocal.errors import InstanceLimitError, NoCapacityError
from smlocal.sagemaker.contract.requested_hosts import hosts_of
from smlocal.sagemaker.jobfile.job_file import JobFile


def has_fault(job: JobFile, kind: str) -> bool:
    """True if `Local.Faults` has this kind of fault."""
    return any(fault.Kind == kind for fault in job.local.Faults)


def refuse_above_limit(job: JobFile) -> None:
    """`InstanceLimitError` for a new job, if that is simulated."""
    resources = job.request.ResourceConfig
    if resources is not None and has_fault(job, "ResourceLimitExceeded"):
        from smlocal.jobs.submission.scheduler import limit_exceeded  # few jobs simulate it

        hosts = hosts_of(resources)
        error: InstanceLimitError = limit_exceeded(
            hosts[0].instance_type,
            limit=0,
            asked=len(hosts),
            used=0,
            remedy="Local.Faults simulates this limit: remove ResourceLimitExceeded there.",
        )
        raise error


def check_capacity(job: JobFile) -> None:
    """`NoCapacityError` for a recorded job, if that is simulated."""
    if has_fault(job, "CapacityError"):
        raise NoCapacityError(
            "Local.Faults simulates that there are no instances",
            remedy=["Remove CapacityError from Local.Faults to run the job."],
        )
