"""The records of the store, without documents."""

from collections.abc import Mapping, Sequence
from typing import Any

from smlocal.contract.statuses import JobPhase, JobStatus
from smlocal.quick_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class JobRecord:
    """One job. Times are seconds since the epoch, with milliseconds."""

    name: str
    status: JobStatus
    phase: JobPhase
    created: float
    modified: float
    started: float | None
    ended: float | None
    failure_reason: str | None
    supervisor_pid: int | None
    run_id: str
    arn: str
    model_uri: str
    """The URI of the model that the platform answers."""
    instances: int
    platform: str
    """Its name."""

    @property
    def pending(self) -> bool:
        """True for a submitted job that waits to be started. It needs no supervisor."""
        return self.phase is JobPhase.PENDING


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredJob:
    """One job with its history and some of its documents, all read at one moment."""

    record: JobRecord
    transitions: "Sequence[Transition]"
    documents: Mapping[str, Any]
    """By kind. A kind is absent if the job has no such document."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Transition:
    """A phase that a job was in, or is in."""

    status: JobPhase
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
