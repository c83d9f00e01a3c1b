"""The history of a job, and what the lifecycle asks for: everything that happened to it, and what was decided."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from smlocal.ai_platform.lifecycle.events import CancelCause, ReplicaExited, ReplicaLost, StartRefused
from smlocal.ai_platform.lifecycle.progress import JobProgress
from smlocal.ai_platform.lifecycle.states import ErrorClass, JobState
from smlocal.base.quick_dataclass import dataclass


class Decision(StrEnum):
    """The decision that follows from an event."""

    NOTHING = "nothing"
    """A replica that is not the primary one is done, or the job is ending anyway."""
    RESTART_REPLICA = "restart-replica"
    MOVE_REPLICA = "move-replica"
    RETRY_JOB = "retry-job"
    RESTART_JOB = "restart-job"
    """As a retry, but it does not count as one."""
    SUCCEED = "succeed"
    FAIL = "fail"
    CANCEL = "cancel"


class Happened(StrEnum):
    """The kind of an entry of the history."""

    ATTEMPT = "attempt"
    """An attempt of the job begins."""
    EXITED = "exited"
    LOST = "lost"
    START_REFUSED = "start-refused"
    MAINTENANCE = "maintenance"
    STOCK_OUT = "stock-out"
    INTERNAL_ERROR = "internal-error"
    CANCEL = "cancel"


@dataclass(frozen=True, kw_only=True, slots=True)
class HistoryEntry:
    """One event, and the decision about it."""

    happened: Happened
    attempt: int
    decision: Decision = Decision.NOTHING
    replica: str | None = None
    number: int | None = None
    """The number of the replica's container."""
    restarts: int | None = None
    """How often the replica had failed and been restarted in this attempt, before this."""
    exit_code: int | None = None
    oom_killed: bool | None = None
    error: ErrorClass | None = None
    signal: str | None = None
    """The last signal that the replica got before it ended."""
    cause: CancelCause | None = None
    grace: float | None = None
    why: str | None = None

    def as_json(self) -> Mapping[str, Any]:
        """The known parts of the entry, for the history."""
        values = {
            "Happened": self.happened.value,
            "Attempt": self.attempt,
            "Decision": self.decision.value,
            "Replica": self.replica,
            "Container": self.number,
            "Restarts": self.restarts,
            "ExitCode": self.exit_code,
            "OomKilled": self.oom_killed,
            "Error": self.error and self.error.value,
            "Signal": self.signal,
            "Cause": self.cause and self.cause.value,
            "Grace": self.grace,
            "Why": self.why,
        }
        return {name: value for name, value in values.items() if value is not None}


def end_entry(
    progress: JobProgress,
    event: ReplicaExited | ReplicaLost | StartRefused,
    decision: Decision,
    error: ErrorClass | None = None,
    *,
    signal: str | None = None,
) -> HistoryEntry:
    """The end of a container. `progress`: before a restart of the replica is counted."""
    name = event.replica
    known: dict[str, Any] = {"attempt": progress.attempt, "decision": decision, "error": error, "signal": signal}
    known |= {"replica": name, "number": event.number, "restarts": progress.restarts.get(name, 0)}
    match event:
        case ReplicaExited(exit_code=code, oom_killed=oom_killed):
            return HistoryEntry(happened=Happened.EXITED, exit_code=code, oom_killed=oom_killed, **known)
        case ReplicaLost(why=why):
            return HistoryEntry(happened=Happened.LOST, why=why, **known)
        case StartRefused(why=why):
            return HistoryEntry(happened=Happened.START_REFUSED, why=why, **known)


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """Write this into the history, before what follows is done."""

    entry: HistoryEntry


@dataclass(frozen=True, kw_only=True, slots=True)
class EnterState:
    """The job is in this state from now on."""

    state: JobState


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """Start a container of each replica, all at the same time; `numbers` are those of the containers."""

    numbers: Mapping[str, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Restart:
    """Start a new container of one replica, with the host name, address and mounts of the last."""

    replica: str
    number: int
    other_machine: bool = False
    """True: nothing that the replica has written on its own disk is left."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Terminate:
    """Send SIGTERM to PID 1 of these replicas."""

    replicas: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Kill:
    """Send SIGKILL to these replicas."""

    replicas: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class AttachError:
    """The job has this error from now on."""

    code: int
    """A code of `google.rpc.Code`."""
    message: str


Action = Record | EnterState | Start | Restart | Terminate | Kill | AttachError
