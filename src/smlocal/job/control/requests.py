"""Requests of other processes to the supervisor of a job: stored first, then the supervisor is woken."""

import os
import time
from collections.abc import Iterator
from contextlib import suppress

from smlocal.contract.statuses import JobPhase, PhaseMessage, StopCause
from smlocal.errors import JobNotInterruptibleError
from smlocal.job.control.stop_requests import WAKE_SIGNAL
from smlocal.job.control.wakeup import write_wakeup
from smlocal.job.decide.events import Event, Interrupted, StopAsked
from smlocal.job.documents import LOCAL, REQUEST
from smlocal.job.event_kinds import INTERRUPT, STOP
from smlocal.job.platform import platform_named
from smlocal.quick_dataclass import dataclass
from smlocal.store.jobs import Store
from smlocal.store.lease import supervised


def ask_to_stop(store: Store, name: str, *, grace: float | None) -> bool:
    """Request a stop; False if the job needs a supervisor and has none. A waiting job ends at once."""
    data = {"Cause": StopCause.REQUEST, "Grace": grace}
    if store.get(name).pending:
        from smlocal.job.finish.job_folder import write_copies  # most jobs have begun
        from smlocal.job.finish.unprepared import unprepared_block

        documents = {LOCAL: unprepared_block()}
        if store.stop_pending(name, at=time.time(), kind=STOP, data=data, documents=documents):
            write_copies(store, name)
            return True
    record = store.add_request(name, at=time.time(), kind=STOP, data=data, stopping=PhaseMessage.STOPPING)
    return _wake(store, name, record.supervisor_pid)


def ask_to_interrupt(store: Store, name: str) -> bool:
    """Request a spot interruption of a job that is training on spot instances; False if it has no supervisor."""
    record = store.get(name)
    refused = platform_named(record.platform).not_interruptible(store.document(name, REQUEST))
    if refused is not None:
        why, remedy = refused
        raise JobNotInterruptibleError(f"the job {name} {why}", remedy=[remedy])
    if not record.status.terminal and record.phase is not JobPhase.TRAINING:
        raise JobNotInterruptibleError(
            f"the job {name} is not training now: it is {record.phase}", remedy=["Try again in a moment."]
        )
    record = store.add_request(name, at=time.time(), kind=INTERRUPT, data={})
    return _wake(store, name, record.supervisor_pid)


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
