"""The faults that `Local.Faults` simulates: interruptions and internal errors."""

from collections.abc import Callable
from dataclasses import field

from smlocal.job.decide.events import Event, Interrupted, PlatformFailed
from smlocal.planning.model import FaultPlan
from smlocal.quick_dataclass import dataclass


@dataclass(kw_only=True, slots=True)
class Faults:
    """The faults of a job, counted over all its attempts."""

    planned: tuple[FaultPlan, ...]
    record: Callable[[int], None] = lambda _: None
    """Called with the index of each fault that happens, so that a later supervisor can count it."""
    _happened: dict[int, int] = field(default_factory=dict)
    """How often, by index."""
    _due: list[tuple[float, int]] = field(default_factory=list)

    def count(self, index: int) -> None:
        """Count one that has happened."""
        self._happened[index] = self._happened.get(index, 0) + 1

    def fails(self, when: str) -> bool:
        """True if an internal error happens now, `Before` or `After` training."""
        for index, fault in enumerate(self.planned):
            if not fault.interrupt and fault.when == when and self._remains(index):
                self._happens(index)
                return True
        return False

    def training_began(self, now: float) -> None:
        """Start the clocks of the faults during training."""
        self._due = [
            (now + fault.after, index)
            for index, fault in enumerate(self.planned)
            if (fault.interrupt or fault.when == "During") and self._remains(index)
        ]

    @property
    def wake_at(self) -> float | None:
        """When the next one is due."""
        return min((at for at, _ in self._due), default=None)

    def due(self, now: float) -> list[Event]:
        """What happens by now."""
        ready = sorted(item for item in self._due if item[0] <= now)
        self._due = [item for item in self._due if item[0] > now]
        for _, index in ready:
            self._happens(index)
        return [Interrupted() if self.planned[index].interrupt else PlatformFailed() for _, index in ready]

    def _remains(self, index: int) -> bool:
        return self._happened.get(index, 0) < self.planned[index].times

    def _happens(self, index: int) -> None:
        self.count(index)
        self.record(index)
