"""Events of the replicas of a job.

A replica has several containers one after the other. They are numbered from 1 through all attempts of the job, so
that an event of an earlier container is never taken for one of a later container.
"""

from enum import StrEnum

from smlocal.base.quick_dataclass import dataclass


class CancelCause(StrEnum):
    """Why a job is cancelled."""

    REQUEST = "request"
    RAN_TOO_LONG = "max-running-time"
    WAITED_TOO_LONG = "max-wait-time"


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplicaReady:
    """A container of a replica has started."""

    replica: str
    number: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplicaExited:
    """A container of a replica has ended."""

    replica: str
    number: int
    exit_code: int
    oom_killed: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplicaLost:
    """A container of a replica is gone, and how it ended is not known."""

    replica: str
    number: int
    why: str


@dataclass(frozen=True, kw_only=True, slots=True)
class StartRefused:
    """A container of a replica could not be started, which is the fault of its image or its command."""

    replica: str
    number: int
    why: str


@dataclass(frozen=True, kw_only=True, slots=True)
class MaintenanceBegun:
    """The machine of a replica is going to be maintained: the replica moves to another."""

    replica: str


@dataclass(frozen=True, kw_only=True, slots=True)
class StockOut:
    """The region has no machines for the job."""


@dataclass(frozen=True, kw_only=True, slots=True)
class InternalError:
    """The service has failed."""

    why: str
    replica: str | None = None
    """Set if the end of this replica will not be noticed any more."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CancelAsked:
    """Somebody has cancelled the job."""

    grace: float | None = None
    """Seconds between SIGTERM and SIGKILL; None: those of the rules."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CancelAskedAgain:
    """The job was cancelled again: the grace period is cut short."""


Event = (
    ReplicaReady
    | ReplicaExited
    | ReplicaLost
    | StartRefused
    | MaintenanceBegun
    | StockOut
    | InternalError
    | CancelAsked
    | CancelAskedAgain
)
