"""How a supervisor is told to stop its job: by calls from any thread, or by signals in a process of its own."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Self

from smlocal.channels.interface import Check
from smlocal.contract.statuses import StopCause
from smlocal.job.control.wakeup import open_wakeup, remove_wakeup
from smlocal.job.decide.events import Events, KillAsked, StopAsked, Woken

_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
WAKE_SIGNAL = signal.SIGUSR1
"""Another process sends it after it has stored a request."""


class StagingStoppedError(Exception):
    """A request came before the containers were started. Staging stops."""


class StopRequests:
    """Stop requests from any thread. The process is not changed, it keeps its own signal handlers.

    Other processes store their requests, then wake this supervisor through a FIFO: a signal would end a process that
    has no handler for it.
    """

    def __init__(self) -> None:
        self.events = Events()
        self.signal: int | None = None
        """The first stop signal, if signals are handled."""
        self.repeated = False
        """True once a stop was requested twice: nobody wants to wait any longer."""
        self._requested = False
        self._interruptible = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.events.close()

    def accept_wakeups(self, directory: str) -> None:
        """Let other processes wake this supervisor. To be called before they can see the job."""
        self.events.read_from(open_wakeup(directory))

    def stop(self) -> None:
        """Stop the job, as on the service. The second call kills it."""
        self.repeated = self._requested
        self._requested = True
        self.events.put(KillAsked() if self.repeated else StopAsked(cause=StopCause.REQUEST))

    def check(self) -> None:
        """Stop staging here if there is a request. To be called between two calls to the engine."""
        if not self.events.empty():
            raise StagingStoppedError

    def check_interruptible(self) -> None:
        """The same, but only inside `interruptible`. To be called when progress is reported."""
        if self._interruptible:
            self.check()

    @contextmanager
    def interruptible(self) -> Iterator[Check]:
        """For slow work in the supervising thread: a request stops it at any check, a signal at any point."""
        self._interruptible = True
        try:
            self.check()
            yield self.check
        finally:
            self._interruptible = False

    @contextmanager
    def checked(self) -> Iterator[Check]:
        """For slow work in other threads: a request stops it at the next check."""
        self.check()
        yield self.check


class StopSignals(StopRequests):
    """Signals (Ctrl-C, a cancelled CI job) that become stop requests, from entering the context on.

    For the main thread of a process that does nothing else. When the context is left the job has ended, and further
    signals are ignored while its result is printed.
    """

    def __init__(self) -> None:
        super().__init__()
        self._handled: list[int] = []

    def __enter__(self) -> Self:
        for number in _STOP_SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores SIGHUP
                signal.signal(number, self._on_stop)
                self._handled.append(number)
        signal.signal(WAKE_SIGNAL, self._on_wake)
        # This wakes the supervisor also if the signal comes just before it waits.
        signal.set_wakeup_fd(self.events.wakeup, warn_on_full_buffer=False)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        signal.set_wakeup_fd(-1)
        for number in (*self._handled, WAKE_SIGNAL):
            signal.signal(number, signal.SIG_IGN)
        super().__exit__(kind, error, traceback)

    def accept_wakeups(self, directory: str) -> None:
        """Other processes send a signal. The FIFO of an earlier supervisor is removed."""
        remove_wakeup(directory)

    def _on_stop(self, number: int, frame: FrameType | None) -> None:
        del frame
        if self.signal is None:
            self.signal = number
        self.stop()
        self._stop_staging()

    def _on_wake(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self.events.put(Woken())
        self._stop_staging()

    def _stop_staging(self) -> None:
        if self._interruptible:
            self._interruptible = False
            raise StagingStoppedError
