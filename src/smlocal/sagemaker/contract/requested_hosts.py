"""The hosts that a request asks for."""

from collections.abc import Mapping, Sequence
from typing import Any

from smlocal.sagemaker.contract.documents.hosts import heterogeneous, homogeneous
from smlocal.sagemaker.contract.model.request import ResourceConfig
from smlocal.terms.hosts import Host

MAX_PLANNED_HOSTS = 1000
"""A plan for more would be too long to read: each host is told of all others."""


NO_INSTANCES = "CapacityError"
"""The fault of `Local.Faults` that leaves no instances, of one type or of any."""


def selected_preference(resources: Mapping[str, Any], faults: Sequence[Mapping[str, Any]]) -> tuple[str, int] | None:
    """Type and count of the first of `InstancePreferences` that the faults leave; None if there is none.

    Both are given as in their documents.
    """
    struck = {fault.get("Instance") for fault in faults if fault.get("Kind") == NO_INSTANCES}
    for each in resources.get("InstancePreferences") or ():
        if not struck & {each["InstanceType"], None}:
            return each["InstanceType"], each.get("InstanceCount") or resources.get("InstanceCount") or 1
    return None


def with_selected(resources: ResourceConfig, faults: Sequence[Mapping[str, Any]]) -> ResourceConfig:
    """The resources with one type: that of a preference, the first one if none is left."""
    if not resources.InstancePreferences:
        return resources
    plain = resources.plain()
    kind, count = selected_preference(plain, faults) or selected_preference(plain, ()) or ("", 1)
    return ResourceConfig(**{**vars(resources), "InstanceType": kind, "InstanceCount": count})


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
