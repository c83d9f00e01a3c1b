"""The service's message for each phase."""

from collections.abc import Mapping

from smlocal.contract.statuses import PhaseMessage

MESSAGES: Mapping[str, str] = {
    PhaseMessage.STARTING: "Starting the training job",
    PhaseMessage.WAITING: "Training job waiting for capacity",
    PhaseMessage.PREPARING: "Preparing the instances for training",
    PhaseMessage.DOWNLOADING_DATA: "Downloading input data",
    PhaseMessage.DOWNLOADING_IMAGE: "Downloading the training image",
    PhaseMessage.TRAINING: "Training image download completed. Training in progress.",
    PhaseMessage.UPLOADING: "Uploading generated training model",
    PhaseMessage.INTERRUPTED: "Training job interrupted",  # our own; the service's is not known
    PhaseMessage.STOPPING: "Stopping the training job",
    PhaseMessage.STOPPED: "Training job stopped",
    PhaseMessage.MAX_RUNTIME_EXCEEDED: "Training job runtime exceeded MaxRuntimeInSeconds provided",
    PhaseMessage.MAX_WAIT_TIME_EXCEEDED: "Training job wait time exceeded MaxWaitTimeInSeconds provided",
    PhaseMessage.COMPLETED: "Training job completed",
    PhaseMessage.FAILED: "Training job failed",
}
