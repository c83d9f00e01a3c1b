"""The statuses of jobs and warm pools, and why a job fails when no program of it did."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, Literal

from smlocal.base.quick_dataclass import dataclass

# They are stored. Their words are those of the first platform, so that its answers have them as they are; another
# platform has its own for them.


class JobStatus(StrEnum):
    """Whether a job runs, and how it ended."""

    IN_PROGRESS = "InProgress"
    COMPLETED = "Completed"
    FAILED = "Failed"
    STOPPING = "Stopping"
    STOPPED = "Stopped"
    DELETING = "Deleting"

    @property
    def terminal(self) -> bool:
        """True if the status cannot change any more."""
        return self in {JobStatus.COMPLETED, JobStatus.FAILED, JobStatus.STOPPED}


class JobPhase(StrEnum):
    """The present work of a job, or why it ended."""

    STARTING = "Starting"
    PENDING = "Pending"
    DOWNLOADING = "Downloading"
    TRAINING = "Training"
    INTERRUPTED = "Interrupted"
    UPLOADING = "Uploading"
    STOPPING = "Stopping"
    STOPPED = "Stopped"
    MAX_RUNTIME_EXCEEDED = "MaxRuntimeExceeded"
    MAX_WAIT_TIME_EXCEEDED = "MaxWaitTimeExceeded"
    COMPLETED = "Completed"
    FAILED = "Failed"


class PhaseMessage(StrEnum):
    """The message about a phase. Each platform has its own sentence for it."""

    STARTING = "starting"
    WAITING = "waiting"
    PREPARING = "preparing"
    DOWNLOADING_DATA = "downloading-data"
    DOWNLOADING_IMAGE = "downloading-image"
    TRAINING = "training"
    UPLOADING = "uploading"
    INTERRUPTED = "interrupted"
    STOPPING = "stopping"
    STOPPED = "stopped"
    MAX_RUNTIME_EXCEEDED = "max-runtime-exceeded"
    MAX_WAIT_TIME_EXCEEDED = "max-wait-time-exceeded"
    COMPLETED = "completed"
    FAILED = "failed"


class StopCause(StrEnum):
    """Why a job was stopped."""

    REQUEST = "request"
    MAX_RUNTIME = "max-runtime"
    MAX_WAIT = "max-wait"


@dataclass(frozen=True, kw_only=True, slots=True)
class Ending:
    """The final status of a job."""

    status: JobStatus
    phase: JobPhase
    message: PhaseMessage


COMPLETED = Ending(status=JobStatus.COMPLETED, phase=JobPhase.COMPLETED, message=PhaseMessage.COMPLETED)
FAILED = Ending(status=JobStatus.FAILED, phase=JobPhase.FAILED, message=PhaseMessage.FAILED)
STOPPED = {
    StopCause.REQUEST: Ending(status=JobStatus.STOPPED, phase=JobPhase.STOPPED, message=PhaseMessage.STOPPED),
    StopCause.MAX_RUNTIME: Ending(
        status=JobStatus.STOPPED,
        phase=JobPhase.MAX_RUNTIME_EXCEEDED,
        message=PhaseMessage.MAX_RUNTIME_EXCEEDED,
    ),
    StopCause.MAX_WAIT: Ending(
        status=JobStatus.STOPPED,
        phase=JobPhase.MAX_WAIT_TIME_EXCEEDED,
        message=PhaseMessage.MAX_WAIT_TIME_EXCEEDED,
    ),
}


# How long a job has trained, in whole seconds.


def training_seconds(started: float, ended: float) -> int:
    """The whole second of the end minus that of the start, as the service counts; at least 1.

    This may be one more than the seconds that have passed: from 1.9 to 3.1 there are two.
    """
    return max(1, int(ended) - int(started))


class FailureKind(StrEnum):
    """The party at fault."""

    INTERNAL = "internal"
    """A failure of the platform itself, or of this machine."""
    INPUT = "input"
    """A failure of the user's data, image or disk: the message says which."""
    IMAGE = "image"
    """The image cannot be pulled."""
    START = "start"
    """The first process cannot be started: the message is the runtime's."""
    CAPACITY = "capacity"
    """No machines are available for it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """Why a job fails."""

    kind: FailureKind
    message: str = ""


INTERNAL_ERROR = Failure(kind=FailureKind.INTERNAL)
CANNOT_PULL = Failure(kind=FailureKind.IMAGE)
NO_CAPACITY = Failure(kind=FailureKind.CAPACITY)


def input_failure(message: str) -> Failure:
    """The user's data, image or disk cannot be used."""
    return Failure(kind=FailureKind.INPUT, message=message)


NO_DISK_SPACE = input_failure("Data download failed:Insufficient disk space")
"""Before anything runs."""


# Nothing runs for a pool. Its state follows from the document of its job and the time, so no crash leaves one behind.

LONGEST: Final = 28 * 24 * 3600
"""A pool that goes from job to job ends after so many seconds."""
POOLS: Final = "warm-pools"
"""The folder in the home with those of the pools."""
# Members of the document.
FOLDER, LIKE, SECONDS, SINCE, KEPT, OVER, REUSED_BY = "Folder", "Like", "Seconds", "Since", "Kept", "Over", "ReusedBy"


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolState:
    """What has become of a pool for one of its jobs."""

    status: Literal["InUse", "Available", "Reused", "Terminated"]
    retained: int | None = None
    """Whole seconds for which it was kept after the job; None until that is over."""
    reused_by: str | None = None
    """The job that it went to."""
    expired: bool = False
    """Its time was over, and nobody ended it."""


def pool_state(document: Mapping[str, Any], *, ended: float | None, now: float) -> PoolState:
    """The state at this time. `ended`: when the job has ended; None if it has not."""
    if ended is None:
        return PoolState(status="InUse")
    if not document.get(KEPT):
        return PoolState(status="Terminated", retained=0)
    over = document.get(OVER)
    if over is None:
        until = min(ended + document[SECONDS], document[SINCE] + LONGEST)
        if now < until:
            return PoolState(status="Available")
        return PoolState(status="Terminated", retained=max(0, int(until - ended)), expired=True)
    retained = max(0, int(over - ended))
    reused_by = document.get(REUSED_BY)
    if reused_by is None:
        return PoolState(status="Terminated", retained=retained)
    return PoolState(status="Reused", retained=retained, reused_by=job_of(reused_by))


def folder_name(name: str, run_id: str) -> str:
    """The folder of a pool while this job has it. No name of such a job has a dot."""
    return f"{name}.{run_id}"


def job_of(folder: str) -> str:
    """The name of the job in the name of the folder."""
    return folder.partition(".")[0]
