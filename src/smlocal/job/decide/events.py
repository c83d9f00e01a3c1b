"""What can happen while containers run, in the order in which the supervisor hears of it."""

import os
import time
from collections import deque
from contextlib import suppress
from select import POLLIN, poll
from threading import RLock

from smlocal.contract.outcome.statuses import StopCause
from smlocal.quick_dataclass import dataclass

_DRAINED = 4096
_LONGEST_WAIT = 3_600_000
"""Milliseconds; a longer wait is done in pieces."""


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
class ThreadDied:
    """A thread of ours has ended by an exception that nobody expected: a defect of smlocal."""

    thread: str
    error: BaseException
    host: str | None = None
    """Set when it was the one that waits for this host's end, which nobody will tell now."""

    @property
    def why(self) -> str:
        """For people."""
        return f"{defect(self.error)} ({self.thread})"


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
class FeedBroken:
    """Data can no longer be brought to a running container."""

    reason: str
    """The FailureReason."""
    explanation: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Poked:
    """Another process has left word in the store."""


Event = HostExited | HostLost | ThreadDied | StopAsked | KillAsked | Interrupted | PlatformFailed | FeedBroken
"""What the state machine of a running job understands."""


def defect(error: BaseException) -> str:
    """What is said of an error that nobody expected."""
    return f"unexpected error in smlocal: {type(error).__name__}: {error}"


class Events:
    """The supervisor's inbox; safe to fill from threads and from signal handlers.

    A pipe wakes whoever waits. Python's own queues would do but for one moment: a signal that arrives just before the
    main thread blocks is handled when it wakes, and that may be a day later. The kernel's pipe has no such moment.
    """

    def __init__(self) -> None:
        self._items: deque[Event | Poked] = deque()
        # Reentrant: a signal handler may put while its own thread does.
        self._lock = RLock()
        self._closed = False
        self._reading, self.wakeup = os.pipe()
        os.set_blocking(self._reading, False)
        os.set_blocking(self.wakeup, False)
        self._poll = poll()
        self._poll.register(self._reading, POLLIN)
        self._fifo = -1
        """Written to by other processes."""

    def read_from(self, fifo: int) -> None:
        """Take what is written to this descriptor for `Poked`, from now on, and close it at the end."""
        self._fifo = fifo
        self._poll.register(fifo, POLLIN)

    def close(self) -> None:
        """Nobody listens any more; what threads still tell is dropped."""
        with self._lock:
            if not self._closed:
                self._closed = True
                os.close(self._reading)
                os.close(self.wakeup)
                if self._fifo >= 0:
                    os.close(self._fifo)

    def __del__(self) -> None:
        self.close()

    def put(self, event: Event | Poked) -> None:
        """Tell the supervisor."""
        with self._lock:
            self._items.append(event)
            if not self._closed:
                with suppress(BlockingIOError):  # full: it is awake anyway
                    os.write(self.wakeup, b"\0")

    def next(self, timeout: float | None) -> Event | Poked | None:
        """The next event, or None when `timeout` seconds brought none."""
        deadline = None if timeout is None else time.monotonic() + max(0.0, timeout)
        self._read_fifo()
        while not self._items:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                return None
            # Rounded up, so that it is not early and then busy.
            if self._poll.poll(None if left is None else min(int(left * 1000) + 1, _LONGEST_WAIT)):
                with suppress(BlockingIOError):
                    os.read(self._reading, _DRAINED)
                self._read_fifo()
        return self._items.popleft()

    def empty(self) -> bool:
        """True when nothing waits to be heard."""
        self._read_fifo()
        return not self._items

    def _read_fifo(self) -> None:
        with self._lock:
            if self._fifo >= 0 and not self._closed:
                with suppress(BlockingIOError):
                    os.read(self._fifo, _DRAINED)
                    self._items.append(Poked())
