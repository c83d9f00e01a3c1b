"""The events while containers run, real or simulated, and the queue in which the supervisor gets them."""

import os
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import field
from select import POLLIN, poll
from threading import RLock

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobs.planning.aspects.faults.plan import FaultPlan
from smlocal.terms.statuses import Failure, StopCause

_READ_BYTES = 4096
_LONGEST_WAIT = 3_600_000
"""Milliseconds. A longer wait is done in parts."""


class StagingStoppedError(Exception):
    """A request came before the containers were started. Staging stops."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StopAsked:
    """A stop was requested."""

    cause: StopCause
    grace: float | None = None
    """Seconds between SIGTERM and SIGKILL; None: the job's own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class KillAsked:
    """A stop was requested twice: the grace period is cut short."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Interrupted:
    """A spot interruption."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MachineMoves:
    """The machine of a host is maintained: the host moves to another. Only ever simulated (`Local.Faults`)."""

    host: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PlatformFailed:
    """An internal error of the service, only ever simulated (`Local.Faults`)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedFailed:
    """No more data can be sent to a running container."""

    failure: Failure
    explanation: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Woken:
    """Another process has stored a request."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ContainerExited:
    """The container has ended, by itself or by a signal."""

    container: str
    exit_code: int
    oom_killed: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ContainerLost:
    """The engine no longer answers for the container; it may still be running."""

    container: str
    why: str
    refused: bool = False
    """True if the engine is there, and a place does not let it answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ThreadDied:
    """A thread of smlocal ended with an unexpected exception, a defect of smlocal."""

    thread: str
    error: BaseException
    container: str | None = None
    """Set if it was the thread that waited for this container's end. No other event comes from that run."""

    @property
    def why(self) -> str:
        """The error and the thread."""
        return f"{unexpected_error(self.error)} ({self.thread})"


ContainerEvent = ContainerExited | ContainerLost | ThreadDied


def unexpected_error(error: BaseException) -> str:
    """The explanation of an error that is a defect of smlocal."""
    return f"unexpected error in smlocal: {type(error).__name__}: {error}"


Event = ContainerEvent | StopAsked | KillAsked | Interrupted | MachineMoves | PlatformFailed | FeedFailed
"""The events that the state machine of a running job (`watch`) handles."""


def wants_no_wait(event: Event | Woken) -> bool:
    """True for a request to end the job at once: a second Ctrl-C, or a stop without a grace period."""
    return isinstance(event, KillAsked) or (isinstance(event, StopAsked) and event.grace == 0)


class EventQueue:
    """The supervisor's queue. Threads and signal handlers may add to it.

    A pipe wakes the supervisor. With Python's own queues, a signal that arrives just before the main thread blocks
    would be handled only when the thread wakes up for another reason, maybe a day later.
    """

    def __init__(self) -> None:
        self._items: deque[Event | Woken] = deque()
        # Reentrant: a signal handler may call `put` while its own thread is in it.
        self._lock = RLock()
        self._closed = False
        self._reading, self.wakeup = os.pipe()
        os.set_blocking(self._reading, False)
        os.set_blocking(self.wakeup, False)
        self._poll = poll()
        self._poll.register(self._reading, POLLIN)
        self._fifo = -1
        """Other processes write to it."""

    def read_from(self, fifo: int) -> None:
        """Add `Woken` when something is written to this descriptor, and close it in `close`."""
        self._fifo = fifo
        self._poll.register(fifo, POLLIN)

    def close(self) -> None:
        """Close the pipes. Events that threads still add are dropped."""
        with self._lock:
            if not self._closed:
                self._closed = True
                os.close(self._reading)
                os.close(self.wakeup)
                if self._fifo >= 0:
                    os.close(self._fifo)

    def __del__(self) -> None:
        self.close()

    def put(self, event: Event | Woken) -> None:
        """Add an event and wake the supervisor."""
        with self._lock:
            self._items.append(event)
            if not self._closed:
                with suppress(BlockingIOError):  # full: it is awake anyway
                    os.write(self.wakeup, b"\0")

    def next(self, timeout: float | None) -> Event | Woken | None:
        """The next event; None if there was none in `timeout` seconds."""
        deadline = None if timeout is None else time.monotonic() + max(0.0, timeout)
        self._read_fifo()
        while not self._items:
            remaining = None if deadline is None else deadline - time.monotonic()
            if remaining is not None and remaining <= 0:
                return None
            # Rounded up: waking too early would repeat the wait without a pause.
            if self._poll.poll(None if remaining is None else min(int(remaining * 1000) + 1, _LONGEST_WAIT)):
                with suppress(BlockingIOError):
                    os.read(self._reading, _READ_BYTES)
                self._read_fifo()
        return self._items.popleft()

    def empty(self) -> bool:
        """True if there is no event now."""
        self._read_fifo()
        return not self._items

    def _read_fifo(self) -> None:
        with self._lock:
            if self._fifo >= 0 and not self._closed:
                with suppress(BlockingIOError):
                    os.read(self._fifo, _READ_BYTES)
                    self._items.append(Woken())


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
        """The events that are due by now."""
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
