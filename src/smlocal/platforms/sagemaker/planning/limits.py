"""The limits of each container: those of its instance type if requested, and never more than this machine has."""

from smlocal.contract.hosts import Host
from smlocal.contract.limits import Limits, read_size, read_ulimit
from smlocal.jobfile.settings import LocalSettings
from smlocal.planning.facts import Facts, MachineFacts
from smlocal.planning.limits import GIB, MIB
from smlocal.planning.model import TreePlan
from smlocal.platforms.sagemaker.contract.instance_types import instance_type, is_this_machine
from smlocal.platforms.sagemaker.contract.model.request import ResourceConfig


def limits_of(
    host: Host, resources: ResourceConfig, local: LocalSettings, facts: Facts, channels: tuple[TreePlan, ...]
) -> Limits:
    """The limits of one host."""
    size, shared = read_size(local.Memory or ""), read_size(local.ShmSize or "")
    memory, cpus = _of_type(host, local, facts.machine_of(host.name))
    return Limits(
        memory=size if memory is None else min(memory, size or memory),
        cpus=local.Cpus if cpus is None else min(cpus, local.Cpus or cpus),
        shared_memory=shared,
        ulimits={name: read_ulimit(limit) or (0, 0) for name, limit in (local.Ulimits or {}).items()},
        processes=local.Processes,
        disk=_disk(resources, local, facts, channels),
    )


def own_memory_limit(kind: str, limits: Limits, machine: MachineFacts) -> int:
    """The bytes of Local.Memory, where that is what limits a host; 0 if its instance type or nothing does."""
    of_type = 0 if is_this_machine(kind) else min(instance_type(kind).memory_mib, machine.memory_mib) * MIB
    return limits.memory if limits.memory and limits.memory != of_type else 0


def delivered_bytes(channels: tuple[TreePlan, ...]) -> int:
    """The bytes that the channels take of the volume on the service, where File mode data is downloaded to it."""
    return sum(tree.listing.total_bytes or 0 for tree in channels if tree.mode == "File")


def volume_bytes(resources: ResourceConfig, local: LocalSettings) -> int | None:
    """The size of the volume if it is enforced."""
    if not local.EnforceInstanceLimits or resources.VolumeSizeInGB is None:
        return None
    return resources.VolumeSizeInGB * GIB


def _of_type(host: Host, local: LocalSettings, machine: MachineFacts) -> tuple[int | None, float | None]:
    if not local.EnforceInstanceLimits or is_this_machine(host.instance_type):
        return None, None
    size = instance_type(host.instance_type)
    return min(size.memory_mib, machine.memory_mib) * MIB, float(min(size.vcpus, machine.cpus))


def _disk(resources: ResourceConfig, local: LocalSettings, facts: Facts, channels: tuple[TreePlan, ...]) -> int | None:
    """The part of the volume that is left for results; 0 if the data alone does not fit."""
    volume = volume_bytes(resources, local)
    if volume is None:
        return None
    left = volume - delivered_bytes(channels)
    if left <= 0:
        return 0
    if facts.no_volume is not None:
        return None
    return left if facts.machine.free_disk is None else min(left, facts.machine.free_disk)
