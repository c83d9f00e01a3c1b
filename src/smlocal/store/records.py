"""What the store gives back: plain facts about a job, never the documents."""

from smlocal.contract.outcome.statuses import SecondaryStatus, TrainingJobStatus
from smlocal.quick_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class JobRecord:
    """One job as lists show it. Times are epoch seconds with milliseconds."""

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
    """What a job that has ended may have left on an engine; the job itself may have been removed since."""

    run_id: str
    name: str
    engine: str
    """Its address."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """Something that happened to a job, for the reader of its history."""

    at: float
    kind: str
    data: object
