"""The limits of containers: those of the instance type if requested, and never more than this machine has."""

from dataclasses import replace
from typing import TYPE_CHECKING

from smlocal.base.quick_dataclass import dataclass
from smlocal.terms.hosts import Host
from smlocal.terms.limits import Limits, read_size, read_ulimit

if TYPE_CHECKING:
    from smlocal.jobfile.settings import LocalSettings

MIB = 1 << 20
GIB = 1 << 30


@dataclass(frozen=True, kw_only=True, slots=True)
class LimitFacts:
    """The limits that an engine and its machine can set; gathered only for jobs with limits."""

    unlimited: tuple[str, ...] = ()
    """Which of `memory` and `CPUs` the engine cannot limit."""
    free_disk: int | None = None
    """Bytes for volumes of limited size."""
    no_volume: str | None = None
    """Why a volume of limited size cannot be made; None if it can."""


def wants_limits(local: "LocalSettings") -> bool:
    """True if the job sets any limit."""
    return local.EnforceInstanceLimits or any(
        value is not None for value in (local.Memory, local.Cpus, local.ShmSize, local.Ulimits, local.Processes)
    )


def asked_limits(local: "LocalSettings") -> Limits:
    """The limits that a job sets itself."""
    return Limits(
        memory=read_size(local.Memory or ""),
        cpus=local.Cpus,
        shared_memory=read_size(local.ShmSize or ""),
        ulimits={name: read_ulimit(limit) or (0, 0) for name, limit in (local.Ulimits or {}).items()},
        processes=local.Processes,
    )


def within(limits: Limits, *, memory: int, cpus: float) -> Limits:
    """The limits, and never more than this much memory and this many processors."""
    return replace(limits, memory=min(memory, limits.memory or memory), cpus=min(cpus, limits.cpus or cpus))


def limits_of(
    host: Host,
    local: "LocalSettings",
    facts: LimitFacts,
    *,
    cpus: int,
    memory_mib: int,
    volume_gb: int | None,
    delivered: int,
) -> Limits:
    """The limits of one host. `cpus` and `memory_mib` are those of its machine, `facts` of the first one.

    `volume_gb`: the size of its volume, as requested; `delivered`: how many bytes of it the channels take.
    """
    limits = asked_limits(local)
    if not local.EnforceInstanceLimits:
        return limits
    if not host.is_this_machine:
        memory = min(host.memory_mib, memory_mib) * MIB
        limits = within(limits, memory=memory, cpus=float(min(host.vcpus, cpus)))
    return replace(limits, disk=None if volume_gb is None else _disk(volume_gb * GIB - delivered, facts))


def own_memory_limit(host: Host, limits: Limits, *, memory_mib: int) -> int:
    """The bytes of Local.Memory, where that is what limits a host; 0 if its instance type or nothing does."""
    of_type = min(host.memory_mib, memory_mib) * MIB
    return limits.memory if limits.memory and limits.memory != of_type else 0


def _disk(left: int, facts: LimitFacts) -> int | None:
    """The part of the volume that is left for results; 0 if the data alone does not fit."""
    if left <= 0:
        return 0
    if facts.no_volume is not None:
        return None
    return left if facts.free_disk is None else min(left, facts.free_disk)
