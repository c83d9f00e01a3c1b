"""The refusal of a job that would be above the limit of instances."""

from smlocal.errors import InstanceLimitError

_ADVICE = (
    "Please use AWS Service Quotas to request an increase for this quota. "
    "If AWS Service Quotas is not available, contact AWS support to request an increase for this quota."
)


def limit_exceeded(instance_type: str, *, limit: int, asked: int, used: int, remedy: str) -> InstanceLimitError:
    """The refusal of a job, in the service's words."""
    return InstanceLimitError(
        f"The account-level service limit '{instance_type} for training job usage' is {limit} Instances, "
        f"with current utilization of {used} Instances and a request delta of {asked} Instances. {_ADVICE}",
        remedy=[remedy],
    )
