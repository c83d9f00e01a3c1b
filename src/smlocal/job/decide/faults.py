"""What `Local.Faults` stages: interruptions and internal errors, at their time and as often as asked."""

from collections.abc import Callable
from dataclasses import field

from smlocal.job.decide.events import Event, Interrupted, PlatformFailed
from smlocal.planning.model import FaultPlan
from smlocal.quick_dataclass import dataclass

FAULT = "fault"
"""Of the job's history: one strike."""


@dataclass(kw_only=True, slots=True)
class Faults:
    """The faults of a job, counted over all its attempts."""

    planned: tuple[FaultPlan, ...]
    record: Callable[[int], None] = lambda _: None
    """Told of each strike, so that a later supervisor can count it."""
    _struck: dict[int, int] = field(default_factory=dict)
    _due: list[tuple[float, int]] = field(default_factory=list)

    def count(self, index: int) -> None:
        """A strike of an earlier supervisor's time."""
        self._struck[index] = self._struck.get(index, 0) + 1

    def strikes(self, when: str) -> bool:
        """True when an internal error is due now, before or after training; that uses it up."""
        for index, fault in enumerate(self.planned):
            if not fault.interrupt and fault.when == when and self._left(index):
                self._use(index)
                return True
        return False

    def training_began(self, now: float) -> None:
        """Start the clocks of what comes during training."""
        self._due = [
            (now + fault.after, index)
            for index, fault in enumerate(self.planned)
            if (fault.interrupt or fault.when == "During") and self._left(index)
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
            self._use(index)
        return [Interrupted() if self.planned[index].interrupt else PlatformFailed() for _, index in ready]

    def _left(self, index: int) -> bool:
        return self._struck.get(index, 0) < self.planned[index].times

    def _use(self, index: int) -> None:
        self.count(index)
        self.record(index)
