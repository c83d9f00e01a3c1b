"""Ctrl-C and a cancelled CI job, turned into a stop of the training job."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Self

from smlocal.channels.interface import Check
from smlocal.contract.outcome.statuses import StopCause
from smlocal.job.decide.events import Events, KillAsked, Poked, StopAsked

_CAUGHT = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
POKE = signal.SIGUSR1
"""What another process sends once it has left word in the store."""


class BrokenOffError(Exception):
    """Somebody wants something while no container runs yet: whatever was being staged is given up."""


class StopSignals:
    """From entering on, signals become events; inside `interruptible` they also break off what is being done.

    After leaving, they are ignored: the job has ended, and what is left is to say so.
    """

    def __init__(self, events: Events) -> None:
        self._events = events
        self._armed = False
        self._ours: list[int] = []
        self.received: int | None = None
        """The first signal that came."""
        self.repeated = False
        """True once another has come: somebody does not want to wait."""

    def __enter__(self) -> Self:
        for number in _CAUGHT:
            # Somebody who ignores SIGHUP (nohup) means it.
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._caught)
                self._ours.append(number)
        signal.signal(POKE, self._poked)
        # Wakes the supervisor even when the signal comes an instant before it falls asleep.
        signal.set_wakeup_fd(self._events.wakeup, warn_on_full_buffer=False)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        signal.set_wakeup_fd(-1)
        for number in (*self._ours, POKE):
            signal.signal(number, signal.SIG_IGN)
        self._events.close()

    def check(self) -> None:
        """Break off here if somebody wants something: between two calls to the engine, never within one."""
        if not self._events.empty():
            raise BrokenOffError

    @contextmanager
    def interruptible(self) -> Iterator[Check]:
        """Break off by `BrokenOffError` at any point of what is done inside, also for a signal of a moment before.

        For the main thread alone: no other hears of signals.
        """
        self._armed = True
        try:
            self.check()
            yield self.check
        finally:
            self._armed = False

    @contextmanager
    def checked(self) -> Iterator[Check]:
        """Break off where what is done inside asks whether it should."""
        self.check()
        yield self.check

    def _caught(self, number: int, frame: FrameType | None) -> None:
        del frame
        if self.received is None:
            self.received = number
            self._events.put(StopAsked(cause=StopCause.REQUEST))
        else:
            self.repeated = True
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
