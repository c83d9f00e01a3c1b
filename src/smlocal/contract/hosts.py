"""One host of a job."""

from smlocal.quick_dataclass import dataclass

EVERY = -1
"""All GPUs, if their number is not known."""
GROUP = "homogeneousCluster"
"""The group of the hosts of a job without groups."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Host:
    """One host."""

    name: str
    number: int
    instance_type: str
    group: str = GROUP
    gpus: int = 0
    """That a machine of its type has; `EVERY`: all that there are."""
