"""What can happen while containers run, and the queue in which the supervisor gets it."""

import os
import time
from collections import deque
from contextlib import suppress
from select import POLLIN, poll
from threading import RLock

from smlocal.contract.failures import Failure
from smlocal.contract.statuses import StopCause
from smlocal.job.container_events import ContainerEvent
from smlocal.quick_dataclass import dataclass

_READ_BYTES = 4096
_LONGEST_WAIT = 3_600_000
"""Milliseconds. A longer wait is done in parts."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StopAsked:
    """A stop was requested."""

    cause: StopCause
    grace: float | None = None
    """Seconds between SIGTERM and SIGKILL; None: the job's own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class KillAsked:
    """A stop was requested twice: nobody wants to wait for the grace period."""


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


Event = ContainerEvent | StopAsked | KillAsked | Interrupted | MachineMoves | PlatformFailed | FeedFailed
"""What the state machine of a running job (`watch`) handles."""


def wants_no_wait(event: Event | Woken) -> bool:
    """True for a request to end the job at once: a second Ctrl-C, or a stop without a grace period."""
    return isinstance(event, KillAsked) or (isinstance(event, StopAsked) and event.grace == 0)


class Events:
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
