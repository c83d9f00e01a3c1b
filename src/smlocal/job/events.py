"""What can happen while containers run, in the order in which the supervisor hears of it."""

from dataclasses import dataclass
from queue import Empty, SimpleQueue

from smlocal.contract.statuses import StopCause


@dataclass(frozen=True, kw_only=True, slots=True)
class HostExited:
    """A container has ended by itself or by a signal."""

    host: str
    exit_code: int
    oom_killed: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class HostLost:
    """The engine no longer answers for a container."""

    host: str
    why: str


@dataclass(frozen=True, kw_only=True, slots=True)
class StopAsked:
    """Somebody wants the job to end; asked a second time, at once."""

    cause: StopCause


Event = HostExited | HostLost | StopAsked


class Events:
    """The supervisor's inbox; safe to fill from threads and from signal handlers."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[Event] = SimpleQueue()

    def put(self, event: Event) -> None:
        """Tell the supervisor."""
        self._queue.put(event)

    def next(self, timeout: float | None) -> Event | None:
        """The next event, or None when `timeout` seconds brought none."""
        try:
            return self._queue.get(timeout=None if timeout is None else max(0.0, timeout))
        except Empty:
            return None
