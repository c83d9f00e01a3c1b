"""Looks at a container become points: several looks one point, with nothing of a peak lost."""

from typing import TYPE_CHECKING

from smlocal.contract.usage import Point
from smlocal.engine.statistics import Statistics
from smlocal.quick_dataclass import dataclass

if TYPE_CHECKING:
    from smlocal.job.usage.gpus import GpuUse

_SHORTEST = 0.2
"""Seconds between two looks below which the cores in use cannot be told from the clocks' jitter."""


@dataclass(kw_only=True, slots=True)
class Window:
    """What has been seen since the last point."""

    began: float
    """When the container did, by the clock of `look`."""
    fresh: bool
    """True when it has been watched from its start."""
    _before: Statistics | None = None
    _pending: Point | None = None

    def look(self, now: float, seen: Statistics, gpu: "GpuUse | None") -> None:
        """Take in what the engine says, and what the GPUs did since the last look."""
        cores = self._cores(now, seen)
        memory = max(seen.memory - seen.cache, self._spike(seen))
        highest = seen.memory_highest if seen.memory_highest is not None else seen.memory
        if cores is not None:
            self._before = seen
        pending = self._pending
        self._pending = Point(
            at=now,
            cpu_seconds=seen.cpu_seconds,
            cpu_cores=max(cores or 0.0, pending.cpu_cores if pending else 0.0),
            memory=max(memory, pending.memory if pending else 0),
            memory_with_cache=max(highest, pending.memory_with_cache if pending else 0),
            disk_read=seen.disk_read,
            disk_written=seen.disk_written,
            network_received=seen.network_received,
            network_sent=seen.network_sent,
            gpu_percent=_highest(gpu.percent if gpu else None, pending.gpu_percent if pending else None),
            gpu_memory=_highest(gpu.memory if gpu else None, pending.gpu_memory if pending else None),
        )

    def close(self) -> Point | None:
        """Give the point and begin the next; None when nothing was seen."""
        point, self._pending = self._pending, None
        return point

    def _cores(self, now: float, seen: Statistics) -> float | None:
        """Cores in use since the last look; None when that was a moment ago."""
        if self._before is None:
            spent = seen.cpu_seconds / max(_SHORTEST, now - self.began) if self.fresh else 0.0
        else:
            passed = seen.at - self._before.at
            if passed < _SHORTEST:
                return None
            spent = (seen.cpu_seconds - self._before.cpu_seconds) / passed
        return min(max(0.0, spent), seen.cpus or spent)

    def _spike(self, seen: Statistics) -> int:
        """A peak between two looks: what the kernel's mark has risen to, less the greater file cache of the two."""
        if seen.memory_highest is None or (self._before is None and not self.fresh):
            return 0
        marked, cache = (self._before.memory_highest or 0, self._before.cache) if self._before else (0, 0)
        return seen.memory_highest - max(cache, seen.cache) if seen.memory_highest > marked else 0


def _highest(one: int | None, other: int | None) -> int | None:
    return max((each for each in (one, other) if each is not None), default=None)
