"""The hosts that a request asks for."""

from smlocal.jobs.contract.hosts import Host
from smlocal.sagemaker.contract.documents.hosts import heterogeneous, homogeneous
from smlocal.sagemaker.contract.model.request import ResourceConfig

MAX_PLANNED_HOSTS = 1000
"""A plan for more would be too long to read: each host is told of all others."""


def host_count(resources: ResourceConfig) -> int:
    """The number of hosts."""
    if resources.InstanceGroups:
        return sum(group.InstanceCount for group in resources.InstanceGroups)
    return resources.InstanceCount or 1


def hosts_of(resources: ResourceConfig) -> tuple[Host, ...]:
    """All hosts."""
    if resources.InstanceGroups:
        groups = resources.InstanceGroups
        return heterogeneous([(g.InstanceGroupName, g.InstanceType, g.InstanceCount) for g in groups])
    return homogeneous(resources.InstanceCount or 1, resources.InstanceType or "")
