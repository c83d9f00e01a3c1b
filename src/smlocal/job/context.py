"""What everything that happens to one job shares."""

import os
import time
from collections.abc import Mapping
from dataclasses import field

from smlocal.contract.outcome.statuses import SecondaryStatus, StatusMessage, StopCause
from smlocal.engine.interface import Engine
from smlocal.job.control.requests import STOP, Ear
from smlocal.job.control.stop_requests import StopRequests
from smlocal.job.decide.events import Events
from smlocal.job.phases import Phases
from smlocal.job.reporter import Reporter
from smlocal.quick_dataclass import dataclass
from smlocal.store.jobs import Store


@dataclass(frozen=True, kw_only=True, slots=True)
class Context:
    """One job's engine, memory, audience and inbox."""

    job: str
    engine: Engine
    store: Store
    reporter: Reporter
    events: Events
    signals: StopRequests
    phases: Phases
    ear: Ear
    created: float
    """Of the job, by the wall clock: MaxWaitTimeInSeconds counts from here."""
    spent: dict[str, float] = field(default_factory=dict)
    """Seconds of training of earlier attempts, under one key; MaxRuntimeInSeconds covers them all."""

    def deadlines(self, *, max_runtime: float, max_wait: float | None) -> Mapping[StopCause, float]:
        """When the two clocks of the job run out, by the monotonic clock."""
        now = time.monotonic()
        clocks = {StopCause.MAX_RUNTIME: now + max_runtime - self.spent.get("training", 0.0)}
        if max_wait is not None:
            clocks[StopCause.MAX_WAIT] = now + max_wait - (time.time() - self.created)
        return clocks

    def record(self, kind: str, data: Mapping[str, object]) -> None:
        """Keep something in the job's history, marked as ours."""
        self.store.add_event(self.job, time.time(), kind, {**data, "By": self.ear.token})

    def record_stop(self, cause: StopCause, grace: float) -> None:
        """Write a stop down, in one piece with the status, before anything is done about it."""
        data = {"Cause": cause, "Grace": grace, "By": self.ear.token}
        self.store.ask(self.job, at=time.time(), kind=STOP, data=data, stopping=StatusMessage.STOPPING)
        self.phases.enter(SecondaryStatus.STOPPING, StatusMessage.STOPPING)


def new_token() -> str:
    """A mark that no other supervisor has."""
    return f"{os.getpid()}-{os.urandom(4).hex()}"
