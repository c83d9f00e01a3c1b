"""Ctrl-C and a cancelled CI job, turned into a stop of the training job."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self

from smlocal.contract.statuses import StopCause
from smlocal.job.events import Events, StopAsked

_CAUGHT = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StoppedEarlyError(Exception):
    """A stop was asked for while no container ran yet: whatever was being staged is given up."""


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
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Break off by `StoppedEarlyError`, also when the signal came a moment before."""
        self._armed = True
        try:
            if self.received is not None:
                raise StoppedEarlyError
            yield
        finally:
            self._armed = False

    def _caught(self, number: int, frame: FrameType | None) -> None:
        del frame
        if self.received is None:
            self.received = number
        self._events.put(StopAsked(cause=StopCause.REQUEST))
        if self._armed:
            self._armed = False
            raise StoppedEarlyError
