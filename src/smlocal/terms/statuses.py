"""The states of a job, their messages, and how a job can end.

They are stored. Their words are those of the first platform, so that its answers have them as they are; another
platform has its own for them.
"""

from enum import StrEnum

from smlocal.base.quick_dataclass import dataclass


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
