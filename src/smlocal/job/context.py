"""What everything that happens to one job shares."""

import os
import time
from collections.abc import Mapping

from smlocal.contract.statuses import JobPhase, PhaseMessage, StopCause
from smlocal.engine.engines import Engines
from smlocal.engine.interface import Engine
from smlocal.job.control.requests import StoredRequests
from smlocal.job.control.stop_requests import StopRequests
from smlocal.job.decide.events import Events
from smlocal.job.event_kinds import STOP
from smlocal.job.phases import Phases
from smlocal.job.reporter import Reporter
from smlocal.quick_dataclass import dataclass
from smlocal.store.jobs import Store


@dataclass(kw_only=True, slots=True)
class Context:
    """One job's engines, store, reporter, events and phases."""

    job: str
    engines: Engines
    store: Store
    reporter: Reporter
    events: Events
    stop_requests: StopRequests
    stored_requests: StoredRequests
    phases: Phases
    created: float
    """When the job was created, by the wall clock. The limit on the wait starts here."""
    training_seconds: float = 0.0
    """Of earlier attempts. The limit on the run time covers all attempts."""

    @property
    def engine(self) -> Engine:
        """The only engine, or the first of several."""
        return self.engines.first

    def deadlines(self, *, max_runtime: float, max_wait: float | None) -> Mapping[StopCause, float]:
        """When the two time limits of the job run out, by the monotonic clock."""
        now = time.monotonic()
        deadlines = {StopCause.MAX_RUNTIME: now + max_runtime - self.training_seconds}
        if max_wait is not None:
            deadlines[StopCause.MAX_WAIT] = now + max_wait - (time.time() - self.created)
        return deadlines

    def record(self, kind: str, data: Mapping[str, object]) -> None:
        """Add an event of this supervisor to the job's history."""
        self.store.add_event(self.job, time.time(), kind, {**data, "By": self.stored_requests.token})

    def record_stop(self, cause: StopCause, grace: float) -> None:
        """Record a stop and the new status in one transaction, before anything is done about it."""
        data = {"Cause": cause, "Grace": grace, "By": self.stored_requests.token}
        self.store.add_request(self.job, at=time.time(), kind=STOP, data=data, stopping=PhaseMessage.STOPPING)
        self.phases.enter(JobPhase.STOPPING, PhaseMessage.STOPPING)


def new_token() -> str:
    """A mark that no other supervisor has."""
    return f"{os.getpid()}-{os.urandom(4).hex()}"
