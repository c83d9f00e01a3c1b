"""The hosts of a job, `algo-1` to `algo-N`, and `resourceconfig.json`."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from smlocal.sagemaker.contract.instance_types import instance_type, is_this_machine, type_gpus, type_neuron
from smlocal.terms.hosts import GROUP, Host

INTERFACE = "eth0"
ResourceConfigKeys = Literal["newest", "without-topology", "three-keys"]
"""The keys of `resourceconfig.json`: today's, those of 2022 to 2025, or the three until 2021."""


def host_names(count: int) -> list[str]:
    """The names of this many hosts, in their order."""
    return [f"algo-{number}" for number in range(1, count + 1)]


def homogeneous(count: int, instance_type: str) -> tuple[Host, ...]:
    """The hosts of a job without instance groups."""
    return heterogeneous([(GROUP, instance_type, count)])


def heterogeneous(groups: Sequence[tuple[str, str, int]]) -> tuple[Host, ...]:
    """The hosts of instance groups (name, type, count), numbered in the order of the groups."""
    kinds = [(group, kind) for group, kind, count in groups for _ in range(count)]
    return tuple(host_of_type(f"algo-{n}", n, kind, group=group) for n, (group, kind) in enumerate(kinds, start=1))


def host_of_type(name: str, number: int, kind: str, *, group: str = GROUP) -> Host:
    """A host of an instance type, with the size of that type."""
    size = None if is_this_machine(kind) else instance_type(kind)
    return Host(
        name=name,
        number=number,
        instance_type=kind,
        group=group,
        gpus=type_gpus(kind),
        neuron=type_neuron(kind),
        vcpus=0 if size is None else size.vcpus,
        memory_mib=0 if size is None else size.memory_mib,
    )


def resource_config(
    current: Host, hosts: Sequence[Host], *, keys: ResourceConfigKeys = "newest", interface: str = INTERFACE
) -> Mapping[str, Any]:
    """The content of `resourceconfig.json`, with keys in the service's order."""
    # The list of all hosts is sorted as strings (algo-10 before algo-2). Inside a group the order is not documented.
    names = sorted(host.name for host in hosts)
    if keys == "three-keys":
        return {"current_host": current.name, "hosts": names, "network_interface_name": interface}
    groups: dict[str, dict[str, Any]] = {}
    for host in hosts:
        group = groups.setdefault(
            host.group, {"instance_group_name": host.group, "instance_type": host.instance_type, "hosts": []}
        )
        group["hosts"].append(host.name)
    document: dict[str, Any] = {
        "current_host": current.name,
        "current_instance_type": current.instance_type,
        "current_group_name": current.group,
        "hosts": names,
        "instance_groups": list(groups.values()),
        "network_interface_name": interface,
    }
    if keys == "newest":
        document["topology"] = None
    return document
