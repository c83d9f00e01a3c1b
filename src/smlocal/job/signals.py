"""Ctrl-C and a cancelled CI job, turned into a stop of the training job."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self

from smlocal.contract.statuses import StopCause
from smlocal.job.events import Events, KillAsked, Poked, StopAsked

_CAUGHT = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
POKE = signal.SIGUSR1
"""What another process sends once it has left word in the store."""


class BrokenOffError(Exception):
    """Somebody wants something while no container runs yet: whatever was being staged is given up."""


class StopSignals:
    """While entered, signals become events; inside `interruptible` they also break off what is being done."""

    def __init__(self, events: Events) -> None:
        self._events = events
        self._armed = False
        self._before: dict[int, Any] = {}
        self.received: int | None = None
        """The first signal that came."""

    def __enter__(self) -> Self:
        for number in _CAUGHT:
            # Somebody who ignores SIGHUP (nohup) means it.
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._caught)
        signal.signal(POKE, self._poked)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)
        # Somebody may have seen us at work a moment ago: a late poke must not end the process.
        signal.signal(POKE, signal.SIG_IGN)

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Break off by `BrokenOffError`, also when the signal came a moment before."""
        self._armed = True
        try:
            if not self._events.empty():
                raise BrokenOffError
            yield
        finally:
            self._armed = False

    def _caught(self, number: int, frame: FrameType | None) -> None:
        del frame
        if self.received is None:
            self.received = number
            self._events.put(StopAsked(cause=StopCause.REQUEST))
        else:
            self._events.put(KillAsked())
        self._break_off()

    def _poked(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self._events.put(Poked())
        self._break_off()

    def _break_off(self) -> None:
        if self._armed:
            self._armed = False
            raise BrokenOffError
