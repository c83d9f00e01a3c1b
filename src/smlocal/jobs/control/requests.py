"""How a supervisor is told to stop or interrupt its job.

In its own process: by calls from any thread, or by signals. Other processes store a request first, then wake it: by a
signal, or through a FIFO in the job's folder if it has no signal handlers.
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType, TracebackType
from typing import Self

from smlocal.base.files import Check
from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import JobNotInterruptibleError
from smlocal.jobs.decide.events import Event, EventQueue, Interrupted, KillAsked, StagingStoppedError, StopAsked, Woken
from smlocal.jobs.documents import LOCAL, REQUEST, ended_block
from smlocal.jobs.finish.describe import write_copies
from smlocal.jobs.history import INTERRUPT, STOP
from smlocal.jobs.kinds import showing
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.lease import supervised
from smlocal.terms.statuses import JobPhase, PhaseMessage, StopCause

_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
WAKE_SIGNAL = signal.SIGUSR1
"""Another process sends it after it has stored a request."""
_NAME = "wakeup"


def ask_to_stop(store: Store, name: str, *, grace: float | None) -> bool:
    """Request a stop; False if the job needs a supervisor and has none. A waiting job ends at once."""
    data = {"Cause": StopCause.REQUEST, "Grace": grace}
    if store.get(name).pending:
        documents = {LOCAL: ended_block()}
        if store.stop_pending(name, at=time.time(), kind=STOP, data=data, documents=documents):
            write_copies(store, name)
            return True
    record = store.add_request(name, at=time.time(), kind=STOP, data=data, stopping=PhaseMessage.STOPPING)
    return _wake(store, name, record.supervisor_pid)


def ask_to_interrupt(store: Store, name: str) -> bool:
    """Request a spot interruption of a job that is training on spot instances; False if it has no supervisor."""
    record = store.get(name)
    refused = showing(record.platform).not_interruptible(store.document(name, REQUEST))
    if refused is not None:
        why, remedy = refused
        raise JobNotInterruptibleError(f"the job {name} {why}", remedy=[remedy])
    if not record.status.terminal and record.phase is not JobPhase.TRAINING:
        raise JobNotInterruptibleError(
            f"the job {name} is not training now: it is {record.phase}", remedy=["Try again in a moment."]
        )
    record = store.add_request(name, at=time.time(), kind=INTERRUPT, data={})
    return _wake(store, name, record.supervisor_pid)


def wake(store: Store, name: str) -> bool:
    """Let the supervisor of a job look at what was stored for it; False if it has none."""
    return _wake(store, name, store.get(name).supervisor_pid)


def _wake(store: Store, name: str, supervisor: int | None) -> bool:
    directory = store.directory(name)
    if supervisor is None or not supervised(directory):
        return False
    if not write_wakeup(directory):
        with suppress(ProcessLookupError):  # it has just ended, and so has the job
            os.kill(supervisor, WAKE_SIGNAL)
    return True


@dataclass(kw_only=True, slots=True)
class StoredRequests:
    """The stored requests to one supervisor, each read once."""

    store: Store
    job: str
    token: str
    """Marks the events that this supervisor has stored itself."""
    events_read: int = 0

    def read(self) -> Iterator[Event]:
        """The requests since the last call."""
        events = self.store.events(self.job)
        new, self.events_read = events[self.events_read :], len(events)
        for event in new:
            data = event.data if isinstance(event.data, dict) else {}
            if data.get("By") == self.token:
                continue
            if event.kind == STOP:
                yield StopAsked(cause=StopCause(data["Cause"]), grace=data.get("Grace"))
            elif event.kind == INTERRUPT:
                yield Interrupted()


class StopRequests:
    """Stop requests from any thread. The process is not changed, it keeps its own signal handlers.

    Other processes store their requests, then wake this supervisor through a FIFO: a signal would end a process that
    has no handler for it.
    """

    def __init__(self) -> None:
        self.events = EventQueue()
        self.signal: int | None = None
        """The first stop signal, if signals are handled."""
        self.repeated = False
        """True once a stop was requested twice: nothing is waited for any longer."""
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
        """For slow work in the supervising thread: a request stops it at any check, a signal at any point.

        If the signal makes a clean-up fail, for example by closing a file twice, that error is not raised.
        """
        self._interruptible = True
        try:
            self.check()
            yield self.check
        except Exception as error:
            if self._interruptible or isinstance(error, StagingStoppedError):
                raise
            raise StagingStoppedError from error
        finally:
            self._interruptible = False

    @contextmanager
    def checked(self) -> Iterator[Check]:
        """For slow work in other threads, or work that no signal may interrupt: a request stops it at a check."""
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
        # This wakes the supervisor even if the signal comes just before it waits.
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


def open_wakeup(directory: str) -> int:
    """Make the FIFO of a job and open it for the supervisor."""
    path = os.path.join(directory, _NAME)
    os.mkfifo(path, 0o600)
    # For writing too: without any writer it would always be readable, at its end.
    return os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)


def write_wakeup(directory: str) -> bool:
    """Wake the supervisor; False if there is no FIFO, and the supervisor is woken by a signal."""
    try:
        descriptor = os.open(os.path.join(directory, _NAME), os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError:  # it has no reader: the supervisor has just ended
        return True
    try:
        with suppress(OSError):  # full: the supervisor is awake anyway
            os.write(descriptor, b"\0")
    finally:
        os.close(descriptor)
    return True


def remove_wakeup(directory: str) -> None:
    """From now on this job's supervisor is woken by a signal."""
    with suppress(FileNotFoundError):
        os.unlink(os.path.join(directory, _NAME))
