"""How a supervisor is told to stop its job, whatever thread it runs in."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from smlocal.channels.interface import Check
from smlocal.contract.outcome.statuses import StopCause
from smlocal.job.control.wakeup import open_wakeup
from smlocal.job.decide.events import Events, KillAsked, StopAsked


class BrokenOffError(Exception):
    """Something is asked of the supervisor while no container runs yet: staging is broken off."""


class StopRequests:
    """Stop requests that the caller hands in, from any thread; nothing about the process is changed.

    Requests of other processes are in the store. They wake this supervisor through a FIFO: a signal would end a
    process that has no handler for it.
    """

    def __init__(self) -> None:
        self.events = Events()
        self.received: int | None = None
        """The first signal that came, where signals are caught."""
        self.repeated = False
        """True once a stop has been asked for again: it is not to be waited for."""
        self._asked = False
        self._interruptible = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.events.close()

    def listen_in(self, directory: str) -> None:
        """Let other processes wake this supervisor; called before any of them can see the job."""
        self.events.read_from(open_wakeup(directory))

    def stop(self) -> None:
        """Stop the job as StopTrainingJob would; the second time, kill it."""
        self.repeated = self._asked
        self._asked = True
        self.events.put(KillAsked() if self.repeated else StopAsked(cause=StopCause.REQUEST))

    def check(self) -> None:
        """Break off here if something is asked for: between two calls to the engine, never within one."""
        if not self.events.empty():
            raise BrokenOffError

    def check_interruptible(self) -> None:
        """Break off here, if this is inside `interruptible`: for what reports its progress."""
        if self._interruptible:
            self.check()

    @contextmanager
    def interruptible(self) -> Iterator[Check]:
        """For what takes long in the supervising thread: it checks by itself or while it reports its progress."""
        self._interruptible = True
        try:
            self.check()
            yield self.check
        finally:
            self._interruptible = False

    @contextmanager
    def checked(self) -> Iterator[Check]:
        """Break off where what is done inside checks whether it should."""
        self.check()
        yield self.check
