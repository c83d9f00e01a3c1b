"""One host of a job."""

from smlocal.quick_dataclass import dataclass

GROUP = "homogeneousCluster"
"""The group of the hosts of a job without groups."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Host:
    """One host."""

    name: str
    number: int
    instance_type: str
    group: str = GROUP
