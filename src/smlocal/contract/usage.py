"""What the hosts of a job used, and which instance types are large enough for it. Pure."""

import math
from collections.abc import Sequence
from enum import StrEnum

from smlocal.contract.instance_types import InstanceType
from smlocal.quick_dataclass import dataclass

MIB = 1024 * 1024
NEAR = 0.9
"""A peak above this share of an instance's memory may not fit: the system needs a part of the memory."""
_MAX_SUGGESTED = 3
_ALL_CORES = 0.95
"""A container that used this share of the machine's processors might have used more."""
_CORES_ERROR = 0.1
"""The error of a measured number of cores."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """One moment of one container. Counters start at zero when the container does."""

    at: float
    """Seconds since the epoch."""
    cpu_seconds: float
    cpu_cores: float
    """The highest since the previous point."""
    memory: int
    """The highest number of bytes since the previous point, without file cache that the kernel may drop."""
    memory_with_cache: int
    """The highest since the container's start if the kernel reports that, else since the previous point."""
    disk_read: int | None
    disk_written: int | None
    network_received: int | None
    network_sent: int | None
    gpu_percent: int | None
    gpu_memory: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ContainerUsage:
    """The points of one container, by time."""

    began: float
    points: tuple[Point, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class HostUsage:
    """What one host used, in all its containers. None: not measured."""

    name: str
    seconds: float
    """The time that was measured."""
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
    memory_limit: int = 0
    """Of Local.Memory; 0 where the job sets none."""

    @property
    def cores_needed(self) -> int:
        """The processors that an instance needs for the CPU peak."""
        return max(1, math.ceil(self.cpu_peak - _CORES_ERROR))


class Verdict(StrEnum):
    """Whether the requested instance type has enough memory for the peaks, those of GPUs included."""

    FITS = "fits"
    NEAR = "near"
    EXCEEDED = "exceeded"
    KILLED = "killed"
    """The kernel killed a process because memory ran out on this machine: how much it needed is not known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Advice:
    """About the hosts of one instance type."""

    instance_type: InstanceType
    hosts: tuple[str, ...]
    verdict: Verdict
    fits: tuple[InstanceType, ...]
    """The smallest types, of different sizes, that are large enough for the peaks."""
    sentences: tuple[str, ...]


def host_usage(
    name: str, containers: Sequence[ContainerUsage], *, oom_killed: bool = False, memory_limit: int = 0
) -> HostUsage | None:
    """Peaks, means and sums. None if nothing was measured."""
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
        memory_limit=memory_limit,
    )


def advise(
    requested: InstanceType, hosts: Sequence[HostUsage], types: Sequence[InstanceType], *, machine_cpus: int
) -> Advice:
    """Compare the peaks of these hosts, at least one, with their instance type and the others in the table."""
    memory = max(host.memory_peak for host in hosts)
    gpu_memory = max(host.gpu_memory_peak or 0 for host in hosts)
    cores = max(host.cores_needed for host in hosts)
    verdict = _verdict(requested, hosts)
    fits: tuple[InstanceType, ...] = ()
    if verdict is not Verdict.KILLED:
        fits = _smallest(
            requested, [t for t in types if _same_kind(t, requested) and _is_large_enough(t, memory, gpu_memory, cores)]
        )
    sentences = [*_memory_sentences(requested, hosts), *_gpu_sentences(requested, gpu_memory)]
    if fits:
        sentences.append(f"{_peaks_text(memory, gpu_memory, hosts)} would fit in {_types_text(fits)}.")
    elif verdict is not Verdict.KILLED:
        sentences.append(f"{_peaks_text(memory, gpu_memory, hosts)} would not fit in any instance type of this kind.")
    if max(host.cpu_peak for host in hosts) >= _ALL_CORES * machine_cpus and machine_cpus < requested.vcpus:
        sentences.append(
            f"All {machine_cpus} processors of this machine were in use at the peak: it might use more of the "
            f"{requested.vcpus} of {requested.name}."
        )
    names = tuple(host.name for host in hosts)
    return Advice(instance_type=requested, hosts=names, verdict=verdict, fits=fits, sentences=tuple(sentences))


def readable_memory(count: float) -> str:
    """A size of memory: `212 MiB`, `7.4 GiB`, `8 GiB`."""
    mib = count / MIB
    if mib < 10:  # noqa: PLR2004  two digits
        return f"{mib:.1f} MiB"
    if mib < 1000:  # noqa: PLR2004  three digits
        return f"{mib:.0f} MiB"
    return f"{mib / 1024:.1f}".removesuffix(".0") + " GiB"


def _sum(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _verdict(requested: InstanceType, hosts: Sequence[HostUsage]) -> Verdict:
    share = max(host.memory_peak for host in hosts) / (requested.memory_mib * MIB)
    if requested.gpu_memory_mib:
        share = max(share, *((host.gpu_memory_peak or 0) / (requested.gpu_memory_mib * MIB) for host in hosts))
    if share >= 1:
        return Verdict.EXCEEDED
    if any(host.oom_killed for host in hosts):
        return Verdict.KILLED
    return Verdict.NEAR if share >= NEAR else Verdict.FITS


def _same_kind(candidate: InstanceType, requested: InstanceType) -> bool:
    """The same kind of machine: an image runs on one architecture, and code expects a number of accelerators."""
    return (candidate.gpus, candidate.neuron_devices, candidate.architecture) == (
        requested.gpus,
        requested.neuron_devices,
        requested.architecture,
    )


def _is_large_enough(candidate: InstanceType, memory: int, gpu_memory: int, cores: int) -> bool:
    return (
        memory < NEAR * candidate.memory_mib * MIB
        and cores <= candidate.vcpus
        and (not gpu_memory or gpu_memory < NEAR * candidate.gpu_memory_mib * MIB)
    )


def _smallest(requested: InstanceType, candidates: Sequence[InstanceType]) -> tuple[InstanceType, ...]:
    """One type of each size, of the requested family if it has that size."""
    sizes: dict[tuple[int, int, int], InstanceType] = {}
    for candidate in candidates:
        size = (candidate.memory_mib, candidate.vcpus, candidate.gpu_memory_mib)
        if size not in sizes or candidate.family == requested.family:
            sizes[size] = candidate
    return tuple(sizes[size] for size in sorted(sizes)[:_MAX_SUGGESTED])


def _memory_sentences(requested: InstanceType, hosts: Sequence[HostUsage]) -> list[str]:
    sentences = []
    size = requested.memory_mib * MIB
    for host in sorted(hosts, key=lambda host: -host.memory_peak):
        held = f"{host.name} held {readable_memory(host.memory_peak)} at its peak"
        if host.oom_killed and host.memory_limit:
            sentences.append(
                f"{host.name}: the kernel killed a process because it needed more than the "
                f"{readable_memory(host.memory_limit)} of Local.Memory. Raise Local.Memory. The highest use measured "
                f"before is {readable_memory(host.memory_peak)}."
            )
        elif host.oom_killed:
            sentences.append(
                f"{host.name}: the kernel killed a process because memory ran out. The highest use measured before is "
                f"{readable_memory(host.memory_peak)}; how much it needs is not known."
            )
        if host.memory_peak >= size:
            sentences.append(
                f"{held}; {requested.name} has {readable_memory(size)}, and it would run out of memory there."
            )
        elif host.memory_peak >= NEAR * size and not host.oom_killed:
            share = 100 * host.memory_peak / size
            sentences.append(
                f"{held}, {share:.0f} % of the {readable_memory(size)} of {requested.name}, "
                "of which the system needs a part."
            )
    return sentences


def _gpu_sentences(requested: InstanceType, gpu_memory: int) -> list[str]:
    size = requested.gpu_memory_mib * MIB
    if not size or gpu_memory < NEAR * size:
        return []
    name = f"{requested.name} ({requested.gpu_name})"
    held = f"A GPU held {readable_memory(gpu_memory)} at its peak; one of {name} has {readable_memory(size)}"
    return [f"{held}, and it would run out of memory there." if gpu_memory >= size else f"{held}."]


def _peaks_text(memory: int, gpu_memory: int, hosts: Sequence[HostUsage]) -> str:
    cpu = max(host.cpu_peak for host in hosts)
    gpu = f", {readable_memory(gpu_memory)} of a GPU" if gpu_memory else ""
    return f"The peak{'s' if len(hosts) > 1 else ''} of {readable_memory(memory)}{gpu} and {cpu:.1f} cores"


def _types_text(types: Sequence[InstanceType]) -> str:
    return ", ".join(f"{t.name} ({readable_memory(t.memory_mib * MIB)}, {t.vcpus} vCPU)" for t in types)
