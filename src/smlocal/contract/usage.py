"""What the hosts of a job used, and what that says about instance types. Pure."""

import math
from collections.abc import Sequence
from enum import StrEnum

from smlocal.contract.instance_types import InstanceType
from smlocal.quick_dataclass import dataclass

MIB = 1024 * 1024
NEAR = 0.9
"""A peak above this share of an instance's memory leaves too little to say that it fits: not all is the container's."""
_SUGGESTED = 3
_ALL_OF_THEM = 0.95
"""A container that used so much of this machine's processors might have used more."""
_JITTER = 0.1
"""Cores by which a container that keeps two busy may seem to use more."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """One moment of one container; what is counted is counted from the container's start."""

    at: float
    """Seconds since the epoch."""
    cpu_seconds: float
    cpu_cores: float
    """The most since the point before."""
    memory: int
    """The most bytes since the point before, without file cache that the kernel may drop."""
    memory_with_cache: int
    """The most bytes ever, where the kernel keeps count; else since the point before."""
    disk_read: int | None
    disk_written: int | None
    network_received: int | None
    network_sent: int | None
    gpu_percent: int | None
    gpu_memory: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ContainerUsage:
    """The points of one container, in the order of time."""

    began: float
    points: tuple[Point, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class HostUsage:
    """What one host used, over all its containers. None: not measured."""

    name: str
    seconds: float
    """Watched."""
    points: int
    memory_peak: int
    memory_with_cache_peak: int
    cpu_peak: float
    cpu_mean: float
    disk_read: int | None
    disk_written: int | None
    network_received: int | None
    network_sent: int | None
    gpu_percent_peak: int | None
    gpu_percent_mean: float | None
    gpu_memory_peak: int | None
    oom_killed: bool = False

    @property
    def cores_needed(self) -> int:
        """Whole processors that the CPU peak would have filled."""
        return max(1, math.ceil(self.cpu_peak - _JITTER))


class Verdict(StrEnum):
    """What the memory peaks, those of GPUs too, say about the instance type that was asked for."""

    FITS = "fits"
    NEAR = "near"
    EXCEEDED = "exceeded"
    KILLED = "killed"
    """The kernel killed something for want of memory on this machine: how much it would have used is not known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Advice:
    """About the hosts of one instance type."""

    instance_type: InstanceType
    hosts: tuple[str, ...]
    verdict: Verdict
    fits: tuple[InstanceType, ...]
    """The smallest types of different sizes that the peaks fit in."""
    sentences: tuple[str, ...]


def host_usage(name: str, containers: Sequence[ContainerUsage], *, oom_killed: bool = False) -> HostUsage | None:
    """Peaks, means and sums; None when nothing was measured."""
    measured = [container for container in containers if container.points]
    points = [point for container in measured for point in container.points]
    if not points:
        return None
    last = [container.points[-1] for container in measured]
    seconds = sum(max(0.0, container.points[-1].at - container.began) for container in measured)
    shares = [point.gpu_percent for point in points if point.gpu_percent is not None]
    memories = [point.gpu_memory for point in points if point.gpu_memory is not None]
    return HostUsage(
        name=name,
        seconds=seconds,
        points=len(points),
        memory_peak=max(point.memory for point in points),
        memory_with_cache_peak=max(point.memory_with_cache for point in points),
        cpu_peak=max(point.cpu_cores for point in points),
        cpu_mean=sum(point.cpu_seconds for point in last) / seconds if seconds else 0.0,
        disk_read=_sum([point.disk_read for point in last]),
        disk_written=_sum([point.disk_written for point in last]),
        network_received=_sum([point.network_received for point in last]),
        network_sent=_sum([point.network_sent for point in last]),
        gpu_percent_peak=max(shares, default=None),
        gpu_percent_mean=sum(shares) / len(shares) if shares else None,
        gpu_memory_peak=max(memories, default=None),
        oom_killed=oom_killed,
    )


def advise(
    asked: InstanceType, hosts: Sequence[HostUsage], types: Sequence[InstanceType], *, machine_cpus: int
) -> Advice:
    """What the peaks of these hosts, at least one, say about the type they asked for and the others of the table."""
    memory = max(host.memory_peak for host in hosts)
    gpu_memory = max(host.gpu_memory_peak or 0 for host in hosts)
    cores = max(host.cores_needed for host in hosts)
    verdict = _verdict(asked, hosts)
    fits: tuple[InstanceType, ...] = ()
    if verdict is not Verdict.KILLED:
        fits = _smallest(asked, [t for t in types if _alike(t, asked) and _holds(t, memory, gpu_memory, cores)])
    sentences = [*_about_memory(asked, hosts), *_about_gpus(asked, gpu_memory)]
    if fits:
        sentences.append(f"{_peaks(memory, gpu_memory, hosts)} would fit in {_listed(fits)}.")
    elif verdict is not Verdict.KILLED:
        sentences.append(f"{_peaks(memory, gpu_memory, hosts)} would not fit in any instance type of this kind.")
    if max(host.cpu_peak for host in hosts) >= _ALL_OF_THEM * machine_cpus and machine_cpus < asked.vcpus:
        sentences.append(
            f"All {machine_cpus} processors of this machine were in use at the peak: it might use more of the "
            f"{asked.vcpus} of {asked.name}."
        )
    names = tuple(host.name for host in hosts)
    return Advice(instance_type=asked, hosts=names, verdict=verdict, fits=fits, sentences=tuple(sentences))


def readable(count: float) -> str:
    """Bytes as memory is spoken of: `212 MiB`, `7.4 GiB`, `8 GiB`."""
    mib = count / MIB
    if mib < 10:  # noqa: PLR2004  two digits
        return f"{mib:.1f} MiB"
    if mib < 1000:  # noqa: PLR2004  three digits
        return f"{mib:.0f} MiB"
    return f"{mib / 1024:.1f}".removesuffix(".0") + " GiB"


def _sum(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _verdict(asked: InstanceType, hosts: Sequence[HostUsage]) -> Verdict:
    share = max(host.memory_peak for host in hosts) / (asked.memory_mib * MIB)
    if asked.gpu_memory_mib:
        share = max(share, *((host.gpu_memory_peak or 0) / (asked.gpu_memory_mib * MIB) for host in hosts))
    if share >= 1:
        return Verdict.EXCEEDED
    if any(host.oom_killed for host in hosts):
        return Verdict.KILLED
    return Verdict.NEAR if share >= NEAR else Verdict.FITS


def _alike(candidate: InstanceType, asked: InstanceType) -> bool:
    """The same kind of machine: an image runs on one architecture, and code asks for so many accelerators."""
    return (candidate.gpus, candidate.neuron_devices, candidate.architecture) == (
        asked.gpus,
        asked.neuron_devices,
        asked.architecture,
    )


def _holds(candidate: InstanceType, memory: int, gpu_memory: int, cores: int) -> bool:
    return (
        memory < NEAR * candidate.memory_mib * MIB
        and cores <= candidate.vcpus
        and (not gpu_memory or gpu_memory < NEAR * candidate.gpu_memory_mib * MIB)
    )


def _smallest(asked: InstanceType, candidates: Sequence[InstanceType]) -> tuple[InstanceType, ...]:
    """Of each size one, of the family that was asked for where it has that size."""
    sizes: dict[tuple[int, int, int], InstanceType] = {}
    for candidate in candidates:
        size = (candidate.memory_mib, candidate.vcpus, candidate.gpu_memory_mib)
        if size not in sizes or candidate.family == asked.family:
            sizes[size] = candidate
    return tuple(sizes[size] for size in sorted(sizes)[:_SUGGESTED])


def _about_memory(asked: InstanceType, hosts: Sequence[HostUsage]) -> list[str]:
    sentences = []
    size = asked.memory_mib * MIB
    for host in sorted(hosts, key=lambda host: -host.memory_peak):
        held = f"{host.name} held {readable(host.memory_peak)} at its peak"
        if host.oom_killed:
            sentences.append(
                f"{host.name}: the kernel killed a process because memory ran out. The highest use measured before is "
                f"{readable(host.memory_peak)}; how much it needs is not known."
            )
        if host.memory_peak >= size:
            sentences.append(f"{held}; {asked.name} has {readable(size)}, and it would run out of memory there.")
        elif host.memory_peak >= NEAR * size and not host.oom_killed:
            share = 100 * host.memory_peak / size
            sentences.append(
                f"{held}, {share:.0f} % of the {readable(size)} of {asked.name}, of which the system needs a part."
            )
    return sentences


def _about_gpus(asked: InstanceType, gpu_memory: int) -> list[str]:
    size = asked.gpu_memory_mib * MIB
    if not size or gpu_memory < NEAR * size:
        return []
    held = f"A GPU held {readable(gpu_memory)} at its peak; one of {asked.name} ({asked.gpu_name}) has {readable(size)}"
    return [f"{held}, and it would run out of memory there." if gpu_memory >= size else f"{held}."]


def _peaks(memory: int, gpu_memory: int, hosts: Sequence[HostUsage]) -> str:
    cpu = max(host.cpu_peak for host in hosts)
    gpu = f", {readable(gpu_memory)} of a GPU" if gpu_memory else ""
    return f"The peak{'s' if len(hosts) > 1 else ''} of {readable(memory)}{gpu} and {cpu:.1f} cores"


def _listed(types: Sequence[InstanceType]) -> str:
    return ", ".join(f"{t.name} ({readable(t.memory_mib * MIB)}, {t.vcpus} vCPU)" for t in types)
