"""How many instances may be in use at once, as an account of the service has a limit for each instance type."""

from smlocal.errors import InstanceLimitError
from smlocal.quick_dataclass import dataclass

_ADVICE = (
    "Please use AWS Service Quotas to request an increase for this quota. "
    "If AWS Service Quotas is not available, contact AWS support to request an increase for this quota."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceLimit:
    """The limit for all jobs of one home together, whatever their instance types."""

    instances: int
    refuse: bool = False
    """True to refuse every job that would be above the limit now, as the service does. Otherwise jobs wait."""

    def check(self, *, instance_type: str, asked: int, used: int) -> None:
        """`InstanceLimitError` for a job that cannot be accepted. `used`: by all unfinished jobs."""
        if asked <= self.instances and not (self.refuse and used + asked > self.instances):
            return
        raise InstanceLimitError(
            f"The account-level service limit '{instance_type} for training job usage' is {self.instances} Instances, "
            f"with current utilization of {used} Instances and a request delta of {asked} Instances. {_ADVICE}",
            remedy=["Here the limit is smlocal's own: start the endpoint with a higher one, or wait until jobs end."],
        )
