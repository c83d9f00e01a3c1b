"""The usage of a job's hosts. Pure."""

import math
from collections.abc import Sequence
from enum import StrEnum

from smlocal.base.quick_dataclass import dataclass

MIB = 1024 * 1024
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
    """The usage of one host, in all its containers. None: not measured."""

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
    """The value of Local.Memory; 0 where the job sets none."""

    @property
    def cores_needed(self) -> int:
        """The processors that an instance needs for the CPU peak."""
        return max(1, math.ceil(self.cpu_peak - _CORES_ERROR))


class MemoryVerdict(StrEnum):
    """Whether the requested instance type has enough memory for the peaks, those of GPUs included."""

    FITS = "fits"
    NEAR = "near"
    EXCEEDED = "exceeded"
    KILLED = "killed"
    """The kernel killed a process because memory ran out on this machine: how much it needed is not known."""


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
