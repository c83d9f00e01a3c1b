"""The faults that `Local.Faults` simulates: what the platform may do to a job."""

from collections.abc import Callable
from dataclasses import field

from smlocal.job.decide.events import Event, Interrupted, MachineMoves, PlatformFailed
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
        return self._strikes(kind="internal-error", when=when)

    def no_machines(self) -> bool:
        """True if a stock-out happens now, before the hosts start."""
        return self._strikes(kind="stock-out", when="Before")

    def training_began(self, now: float) -> None:
        """Start the clocks of the faults during training."""
        self._due = [
            (now + fault.after, index)
            for index, fault in enumerate(self.planned)
            if fault.when == "During" and self._remains(index)
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
        return [_event(self.planned[index]) for _, index in ready]

    def _strikes(self, *, kind: str, when: str) -> bool:
        for index, fault in enumerate(self.planned):
            if fault.kind == kind and fault.when == when and self._remains(index):
                self._happens(index)
                return True
        return False

    def _remains(self, index: int) -> bool:
        return self._happened.get(index, 0) < self.planned[index].times

    def _happens(self, index: int) -> None:
        self.count(index)
        self.record(index)


def _event(fault: FaultPlan) -> Event:
    match fault.kind:
        case "interrupt":
            return Interrupted()
        case "maintenance":
            return MachineMoves(host=fault.host)
        case _:
            return PlatformFailed()
