"""Every member of a custom job. docs/ai-platform-coverage.md is made from it."""

from typing import Final

from smlocal.platforms.ai_platform.coverage.rows import (
    ACCELERATOR,
    MACHINE,
    NO_ENCRYPTION,
    NO_NETWORK,
    NO_PACKAGES,
    NO_TPU,
    NO_WEB_ACCESS,
    Row,
    emulated,
    recorded,
    refused,
)
from smlocal.platforms.ai_platform.machine_types import TPU_MACHINES
from smlocal.platforms.ai_platform.model.members import JobKind

_POOL: Final = "jobSpec.workerPoolSpecs[]"
_CONTAINER: Final = f"{_POOL}.containerSpec"
_MACHINE: Final = f"{_POOL}.machineSpec"
_EXPERIMENT: Final = "No experiment is tracked here."

CUSTOM_JOB: Final[dict[str, Row]] = {
    "displayName": emulated("Names the job. Default: the file name and the time."),
    "labels": recorded("Kept with the job."),
    "encryptionSpec": recorded(NO_ENCRYPTION),
    f"{_CONTAINER}.imageUri": emulated("The image of each replica of the pool."),
    f"{_CONTAINER}.command[]": emulated("Replaces the image's ENTRYPOINT."),
    f"{_CONTAINER}.args[]": emulated("Replaces the image's CMD."),
    f"{_CONTAINER}.env[]": emulated("Variables of each replica; $(NAME) is replaced by an earlier one."),
    f"{_POOL}.replicaCount": emulated("The number of replicas of the pool. Default: 1."),
    f"{_MACHINE}.machineType": emulated(MACHINE, dict.fromkeys(TPU_MACHINES[JobKind.CUSTOM_JOB], NO_TPU)),
    f"{_MACHINE}.acceleratorType": emulated(ACCELERATOR, {"TPU_*": NO_TPU}),
    f"{_MACHINE}.acceleratorCount": emulated(ACCELERATOR),
    f"{_MACHINE}.gpuPartitionSize": refused("GPUs are not partitioned here."),
    f"{_MACHINE}.tpuTopology": refused(NO_TPU),
    f"{_MACHINE}.reservationAffinity": recorded("No capacity is reserved here."),
    f"{_POOL}.diskSpec": recorded("Replicas use the disk of this machine."),
    f"{_POOL}.nfsMounts": refused("Network file systems are not mounted here."),
    f"{_POOL}.lustreMounts": refused("Network file systems are not mounted here."),
    f"{_POOL}.pythonPackageSpec": refused(NO_PACKAGES),
    "jobSpec.scheduling.timeout": emulated("The job ends after so long; default 604800s."),
    "jobSpec.scheduling.restartJobOnWorkerRestart": emulated("All replicas start again when one does."),
    "jobSpec.scheduling.disableRetries": emulated("The job is not tried again, nor restarted with a worker."),
    "jobSpec.scheduling.maxWaitDuration": recorded("Machines are there at once."),
    "jobSpec.scheduling.strategy": recorded("Machines are there at once, and stay. Local.Faults takes them away."),
    "jobSpec.baseOutputDirectory.outputUriPrefix": emulated(
        "Sets AIP_MODEL_DIR, AIP_CHECKPOINT_DIR and AIP_TENSORBOARD_LOG_DIR; a local folder at /gcs/BUCKET/…"
    ),
    "jobSpec.tensorboard": recorded("Nothing is uploaded."),
    "jobSpec.experiment": recorded(_EXPERIMENT),
    "jobSpec.experimentRun": recorded(_EXPERIMENT),
    "jobSpec.models[]": refused("Models of a registry cannot be fetched here."),
    "jobSpec.persistentResourceId": recorded("The job runs on this machine."),
    "jobSpec.protectedArtifactLocationId": recorded("Artifacts stay on this machine."),
    "jobSpec.enableWebAccess": recorded(NO_WEB_ACCESS),
    "jobSpec.enableDashboardAccess": recorded(NO_WEB_ACCESS),
    "jobSpec.network": recorded(NO_NETWORK),
    "jobSpec.reservedIpRanges[]": recorded(NO_NETWORK),
    "jobSpec.pscInterfaceConfig": recorded(NO_NETWORK),
    "jobSpec.serviceAccount": recorded("Replicas get no credentials of the vendor."),
}
