"""Makes points from what the engine and the GPUs report: several samples become one point with the highest values."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smlocal.contract.usage import Point
from smlocal.engine.statistics import Statistics
from smlocal.quick_dataclass import dataclass

if TYPE_CHECKING:
    from smlocal.job.usage.gpu_usage import GpuUsage

_HIGHEST = ("cpu_cores", "memory", "memory_with_cache", "gpu_percent", "gpu_memory")
"""Of these a point has the highest value; the others are counters."""
_MIN_SECONDS = 0.2
"""Between two samples: the clocks are not exact enough to compute the cores in use over less."""


@dataclass(kw_only=True, slots=True)
class PointBuilder:
    """Collects the samples of one container."""

    began: float
    """When the container started, by the clock of `add`."""
    from_start: bool
    """True if it has been measured since its start."""
    _previous: Statistics | None = None
    _point: Point | None = None

    def add(self, now: float, sample: Statistics, gpu: "GpuUsage | None") -> None:
        """Add what the engine reports, and what the GPUs did since the last sample."""
        cores = self._cores(now, sample)
        memory = max(sample.memory - sample.cache, self._memory_between(sample))
        if cores is not None:
            self._previous = sample
        point = Point(
            at=now,
            cpu_seconds=sample.cpu_seconds,
            cpu_cores=cores or 0.0,
            memory=memory,
            memory_with_cache=sample.memory if sample.memory_highest is None else sample.memory_highest,
            disk_read=sample.disk_read,
            disk_written=sample.disk_written,
            network_received=sample.network_received,
            network_sent=sample.network_sent,
            gpu_percent=None if gpu is None else gpu.percent,
            gpu_memory=None if gpu is None else gpu.memory,
        )
        if self._point is not None:
            point = replace(point, **{name: _highest(point, self._point, name) for name in _HIGHEST})
        self._point = point

    def take(self) -> Point | None:
        """Return the point and begin the next one. None if there was no sample."""
        point, self._point = self._point, None
        return point

    def _cores(self, now: float, sample: Statistics) -> float | None:
        """Cores in use since the last sample. None if that was too short ago."""
        if self._previous is None:
            used = sample.cpu_seconds / max(_MIN_SECONDS, now - self.began) if self.from_start else 0.0
        else:
            seconds = sample.at - self._previous.at
            if seconds < _MIN_SECONDS:
                return None
            used = (sample.cpu_seconds - self._previous.cpu_seconds) / seconds
        return min(max(0.0, used), sample.cpus or used)

    def _memory_between(self, sample: Statistics) -> int:
        """A peak between two samples: the kernel's new maximum, minus the larger file cache of the two."""
        if sample.memory_highest is None or (self._previous is None and not self.from_start):
            return 0
        known, cache = (self._previous.memory_highest or 0, self._previous.cache) if self._previous else (0, 0)
        return sample.memory_highest - max(cache, sample.cache) if sample.memory_highest > known else 0


def _highest(one: Point, other: Point, name: str) -> Any:
    return max((value for value in (getattr(one, name), getattr(other, name)) if value is not None), default=None)
