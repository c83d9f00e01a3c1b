"""Ctrl-C and a cancelled CI job, turned into a stop of the training job."""

import signal
from types import FrameType, TracebackType
from typing import Self

from smlocal.job.control.stop_requests import BrokenOffError, StopRequests
from smlocal.job.control.wakeup import remove_wakeup
from smlocal.job.decide.events import Poked

_CAUGHT = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
POKE = signal.SIGUSR1
"""What another process sends after a request of it was stored."""


class StopSignals(StopRequests):
    """From entering on, signals become stop requests; inside `interruptible` they break off what is being done.

    For the main thread of a process that does nothing else. After leaving, signals are ignored: the job has ended, and
    what is left is to say so.
    """

    def __init__(self) -> None:
        super().__init__()
        self._ours: list[int] = []

    def __enter__(self) -> Self:
        for number in _CAUGHT:
            # Whoever ignores SIGHUP (nohup) wants that.
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._caught)
                self._ours.append(number)
        signal.signal(POKE, self._poked)
        # Wakes the supervisor even when the signal comes an instant before it falls asleep.
        signal.set_wakeup_fd(self.events.wakeup, warn_on_full_buffer=False)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        signal.set_wakeup_fd(-1)
        for number in (*self._ours, POKE):
            signal.signal(number, signal.SIG_IGN)
        super().__exit__(kind, error, traceback)

    def listen_in(self, directory: str) -> None:
        """Other processes send a signal; the FIFO of a supervisor that died is removed."""
        remove_wakeup(directory)

    def _caught(self, number: int, frame: FrameType | None) -> None:
        del frame
        if self.received is None:
            self.received = number
        self.stop()
        self._break_off()

    def _poked(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self.events.put(Poked())
        self._break_off()

    def _break_off(self) -> None:
        if self._interruptible:
            self._interruptible = False
            raise BrokenOffError
