"""The states of a training job, their messages, and how a job's end is reported."""

from enum import StrEnum

from smlocal.quick_dataclass import dataclass


class TrainingJobStatus(StrEnum):
    """TrainingJobStatus."""

    IN_PROGRESS = "InProgress"
    COMPLETED = "Completed"
    FAILED = "Failed"
    STOPPING = "Stopping"
    STOPPED = "Stopped"
    DELETING = "Deleting"

    @property
    def terminal(self) -> bool:
        """True if the status cannot change any more."""
        return self in {TrainingJobStatus.COMPLETED, TrainingJobStatus.FAILED, TrainingJobStatus.STOPPED}


class SecondaryStatus(StrEnum):
    """SecondaryStatus: the values that the service still uses."""

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


class StatusMessage(StrEnum):
    """The service's message for a secondary status."""

    STARTING = "Starting the training job"
    WAITING = "Training job waiting for capacity"
    PREPARING = "Preparing the instances for training"
    DOWNLOADING_DATA = "Downloading input data"
    DOWNLOADING_IMAGE = "Downloading the training image"
    TRAINING = "Training image download completed. Training in progress."
    UPLOADING = "Uploading generated training model"
    INTERRUPTED = "Training job interrupted"
    """Our own; the service's is not known."""
    STOPPING = "Stopping the training job"
    STOPPED = "Training job stopped"
    MAX_RUNTIME_EXCEEDED = "Training job runtime exceeded MaxRuntimeInSeconds provided"
    MAX_WAIT_TIME_EXCEEDED = "Training job wait time exceeded MaxWaitTimeInSeconds provided"
    COMPLETED = "Training job completed"
    FAILED = "Training job failed"


class StopCause(StrEnum):
    """Why a job was stopped."""

    REQUEST = "request"
    MAX_RUNTIME = "max-runtime"
    MAX_WAIT = "max-wait"


@dataclass(frozen=True, kw_only=True, slots=True)
class Ending:
    """The final status of a job."""

    status: TrainingJobStatus
    secondary: SecondaryStatus
    message: StatusMessage


COMPLETED = Ending(
    status=TrainingJobStatus.COMPLETED, secondary=SecondaryStatus.COMPLETED, message=StatusMessage.COMPLETED
)
FAILED = Ending(status=TrainingJobStatus.FAILED, secondary=SecondaryStatus.FAILED, message=StatusMessage.FAILED)
STOPPED = {
    StopCause.REQUEST: Ending(
        status=TrainingJobStatus.STOPPED, secondary=SecondaryStatus.STOPPED, message=StatusMessage.STOPPED
    ),
    StopCause.MAX_RUNTIME: Ending(
        status=TrainingJobStatus.STOPPED,
        secondary=SecondaryStatus.MAX_RUNTIME_EXCEEDED,
        message=StatusMessage.MAX_RUNTIME_EXCEEDED,
    ),
    StopCause.MAX_WAIT: Ending(
        status=TrainingJobStatus.STOPPED,
        secondary=SecondaryStatus.MAX_WAIT_TIME_EXCEEDED,
        message=StatusMessage.MAX_WAIT_TIME_EXCEEDED,
    ),
}
