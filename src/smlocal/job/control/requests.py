"""Word that processes leave for a job's supervisor: kept in the store first, then poked at."""

import os
import time
from collections.abc import Iterator
from contextlib import suppress

from smlocal.contract.outcome.statuses import SecondaryStatus, StatusMessage, StopCause
from smlocal.errors import JobNotInterruptibleError
from smlocal.job.control.signals import POKE
from smlocal.job.control.wakeup import write_wakeup
from smlocal.job.decide.events import Event, Interrupted, StopAsked
from smlocal.quick_dataclass import dataclass
from smlocal.store.jobs import Store
from smlocal.store.lease import supervised

STOP = "stop"
INTERRUPT = "interrupt"


def ask_to_stop(store: Store, name: str, *, grace: float | None) -> bool:
    """Record the stop, then wake the supervisor; False when there is none to be woken."""
    data = {"Cause": StopCause.REQUEST, "Grace": grace}
    record = store.ask(name, at=time.time(), kind=STOP, data=data, stopping=StatusMessage.STOPPING)
    return _poke(store, name, record.supervisor_pid)


def ask_to_interrupt(store: Store, name: str) -> bool:
    """Play a spot interruption; the job must be training on spot instances."""
    request = store.document(name, "request")
    record = store.get(name)
    if not request.get("EnableManagedSpotTraining"):
        raise JobNotInterruptibleError(
            f"the job {name} does not use spot instances",
            remedy=["To make it interruptible, set EnableManagedSpotTraining: true in the job file."],
        )
    if not record.status.terminal and record.secondary_status is not SecondaryStatus.TRAINING:
        raise JobNotInterruptibleError(
            f"the job {name} is not training now: it is {record.secondary_status}", remedy=["Try again in a moment."]
        )
    record = store.ask(name, at=time.time(), kind=INTERRUPT, data={})
    return _poke(store, name, record.supervisor_pid)


def _poke(store: Store, name: str, supervisor: int | None) -> bool:
    directory = store.directory(name)
    if supervisor is None or not supervised(directory):
        return False
    if not write_wakeup(directory):
        with suppress(ProcessLookupError):  # it has ended this instant, and so has the job
            os.kill(supervisor, POKE)
    return True


@dataclass(kw_only=True, slots=True)
class Ear:
    """What the supervisor has heard of its job's word so far."""

    store: Store
    job: str
    token: str
    """What our own word is marked with."""
    heard: int = 0

    def listen(self) -> Iterator[Event]:
        """Word that others have left since the last time."""
        events = self.store.events(self.job)
        fresh, self.heard = events[self.heard :], len(events)
        for event in fresh:
            data = event.data if isinstance(event.data, dict) else {}
            if data.get("By") == self.token:
                continue
            if event.kind == STOP:
                yield StopAsked(cause=StopCause(data["Cause"]), grace=data.get("Grace"))
            elif event.kind == INTERRUPT:
                yield Interrupted()
