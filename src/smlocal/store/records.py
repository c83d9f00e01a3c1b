"""The records of the store, without documents."""

from smlocal.contract.outcome.statuses import SecondaryStatus, TrainingJobStatus
from smlocal.quick_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class JobRecord:
    """One job. Times are seconds since the epoch, with milliseconds."""

    name: str
    status: TrainingJobStatus
    secondary_status: SecondaryStatus
    created: float
    modified: float
    started: float | None
    ended: float | None
    failure_reason: str | None
    supervisor_pid: int | None
    run_id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Transition:
    """One element of SecondaryStatusTransitions."""

    status: SecondaryStatus
    started: float
    ended: float | None
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftOnEngine:
    """A job that may have left something on an engine. It has ended, and may have been removed since."""

    run_id: str
    name: str
    engine: str
    """The engine's address."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """An entry in the history of a job."""

    at: float
    kind: str
    data: object
