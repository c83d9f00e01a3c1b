"""Every member of a job of AI Platform Training. docs/ai-platform-coverage.md is made from it."""

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

_TPUS: Final = dict.fromkeys(TPU_MACHINES[JobKind.TRAINING_JOB], NO_TPU)
_RESULT: Final = "The service fills it in; a request has none."
_ROLES: Final = {
    "master": "the master",
    "worker": "each worker",
    "parameterServer": "each parameter server",
    "evaluator": "each evaluator",
}


def _role(name: str, spoken: str) -> dict[str, Row]:
    path = f"trainingInput.{name}"
    default = "" if name == "master" else " Default: that of masterConfig."
    rows = {
        f"{path}Type": emulated(MACHINE, _TPUS),
        f"{path}Config.imageUri": emulated(f"The image of {spoken}.{default}"),
        f"{path}Config.containerCommand[]": emulated("Replaces the image's ENTRYPOINT."),
        f"{path}Config.containerArgs[]": emulated("Replaces the image's CMD."),
        f"{path}Config.acceleratorConfig.type": emulated(ACCELERATOR, {"TPU_*": NO_TPU}),
        f"{path}Config.acceleratorConfig.count": emulated(ACCELERATOR),
        f"{path}Config.diskConfig": recorded("Replicas use the disk of this machine."),
        f"{path}Config.tpuTfVersion": refused(NO_TPU),
    }
    if name != "master":
        rows[f"{path}Count"] = emulated(f"How many replicas there are of {spoken.removeprefix('each ')}s.")
    return rows


TRAINING_JOB: Final[dict[str, Row]] = {
    "jobId": emulated("Names the job. Default: the file name and the time."),
    "labels": recorded("Kept with the job."),
    "etag": recorded("Nobody else updates the job."),
    "predictionInput": refused("Prediction jobs are not run here."),
    "predictionOutput": refused(_RESULT),
    "trainingOutput": refused(_RESULT),
    "trainingInput.scaleTier": emulated(
        "The machines of the job; CUSTOM for those of the members below.", {"BASIC_TPU": NO_TPU}
    ),
    **{name: row for role, spoken in _ROLES.items() for name, row in _role(role, spoken).items()},
    "trainingInput.args[]": emulated("Arguments of every replica."),
    "trainingInput.jobDir": emulated("Passed as --job-dir; a local folder at /gcs/BUCKET/…"),
    "trainingInput.region": emulated("Named in messages of the service."),
    "trainingInput.useChiefInTfConfig": emulated("chief instead of master in TF_CONFIG."),
    "trainingInput.scheduling.maxRunningTime": emulated("The job is cancelled after so long; default 604800s."),
    "trainingInput.scheduling.maxWaitTime": emulated("The job is cancelled if it does not run by then."),
    "trainingInput.scheduling.priority": recorded("Jobs of this machine do not wait for each other's accelerators."),
    "trainingInput.packageUris[]": refused(NO_PACKAGES),
    "trainingInput.pythonModule": refused(NO_PACKAGES),
    "trainingInput.pythonVersion": refused(NO_PACKAGES),
    "trainingInput.runtimeVersion": refused(NO_PACKAGES),
    "trainingInput.hyperparameters": refused("Hyperparameter tuning is not done here; one job is one trial."),
    "trainingInput.enableWebAccess": recorded(NO_WEB_ACCESS),
    "trainingInput.encryptionConfig": recorded(NO_ENCRYPTION),
    "trainingInput.network": recorded(NO_NETWORK),
    "trainingInput.serviceAccount": recorded("Replicas get no credentials of the vendor."),
}
