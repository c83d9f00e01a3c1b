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
    """Somebody wants the job to end."""

    cause: StopCause
    grace: float | None = None
    """Between SIGTERM and SIGKILL, where it is not the job's usual one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class KillAsked:
    """Somebody who has asked for a stop does not want to wait for it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Interrupted:
    """The spot instances are taken away."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PlatformFailed:
    """The platform breaks under the job, as it may on the service; only ever staged."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Poked:
    """Another process has left word in the store."""


Event = HostExited | HostLost | StopAsked | KillAsked | Interrupted | PlatformFailed
"""What the state machine of a running job understands."""


class Events:
    """The supervisor's inbox; safe to fill from threads and from signal handlers."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[Event | Poked] = SimpleQueue()

    def put(self, event: Event | Poked) -> None:
        """Tell the supervisor."""
        self._queue.put(event)

    def next(self, timeout: float | None) -> Event | Poked | None:
        """The next event, or None when `timeout` seconds brought none."""
        try:
            return self._queue.get(timeout=None if timeout is None else max(0.0, timeout))
        except Empty:
            return None

    def empty(self) -> bool:
        """True when nothing waits to be heard."""
        return self._queue.empty()
