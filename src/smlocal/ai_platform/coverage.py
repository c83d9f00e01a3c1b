"""How each member of a request is handled: which are refused or only recorded, and the tables of coverage as JSON."""

from collections.abc import Iterator, Mapping
from dataclasses import field
from fnmatch import fnmatchcase
from typing import Any, Final

from smlocal.ai_platform.machine_types import TPU_MACHINES
from smlocal.ai_platform.model.members import ReplicaJobKind
from smlocal.base.quick_dataclass import dataclass
from smlocal.terms.support import Support
from smlocal.terms.validation.violation import Path


@dataclass(frozen=True, kw_only=True, slots=True)
class CoverageRow:
    """One member, or a structure whose members are all handled alike."""

    support: Support
    note: str
    refused: Mapping[str, str] = field(default_factory=dict)
    """Values that are refused, as patterns, with the reason."""


def emulated(note: str, refused: Mapping[str, str] | None = None) -> CoverageRow:
    """A row of the table."""
    return CoverageRow(support=Support.EMULATED, note=note, refused=refused or {})


def recorded(note: str) -> CoverageRow:
    """A row of the table."""
    return CoverageRow(support=Support.RECORDED, note=note)


def refused(note: str) -> CoverageRow:
    """A row of the table."""
    return CoverageRow(support=Support.REFUSED, note=note)


NO_TPU = "There are no TPUs here."
NO_ENCRYPTION = "Nothing is encrypted here."
NO_NETWORK = "Replicas are on a network of this engine."
NO_WEB_ACCESS = "smlocal shell opens a shell in a replica."
NO_PACKAGES = "Packages are not installed into an image of the vendor; give an image with the program."
MACHINE = "Decides how many GPUs a replica gets; with Local.EnforceInstanceLimits CPU and memory are limited."
ACCELERATOR = "GPUs of the replica."


_POOL: Final = "jobSpec.workerPoolSpecs[]"
_CONTAINER: Final = f"{_POOL}.containerSpec"
_MACHINE: Final = f"{_POOL}.machineSpec"
_EXPERIMENT: Final = "No experiment is tracked here."

CUSTOM_JOB: Final[dict[str, CoverageRow]] = {
    "displayName": emulated("Names the job. Default: the file name and the time."),
    "labels": recorded("Kept with the job."),
    "encryptionSpec": recorded(NO_ENCRYPTION),
    f"{_CONTAINER}.imageUri": emulated("The image of each replica of the pool."),
    f"{_CONTAINER}.command[]": emulated("Replaces the image's ENTRYPOINT."),
    f"{_CONTAINER}.args[]": emulated("Replaces the image's CMD."),
    f"{_CONTAINER}.env[]": emulated("Variables of each replica; $(NAME) is replaced by an earlier one."),
    f"{_POOL}.replicaCount": emulated("The number of replicas of the pool. Default: 1."),
    f"{_MACHINE}.machineType": emulated(MACHINE, dict.fromkeys(TPU_MACHINES[ReplicaJobKind.CUSTOM_JOB], NO_TPU)),
    f"{_MACHINE}.acceleratorType": emulated(ACCELERATOR, {"TPU_*": NO_TPU}),
    f"{_MACHINE}.acceleratorCount": emulated(ACCELERATOR),
    f"{_MACHINE}.gpuPartitionSize": refused("GPUs are not partitioned here."),
    f"{_MACHINE}.tpuTopology": refused(NO_TPU),
    f"{_MACHINE}.reservationAffinity": recorded("No capacity is reserved here."),
    f"{_POOL}.diskSpec": recorded("Replicas use the disk of this machine."),
    f"{_POOL}.nfsMounts": refused("Network file systems are not mounted here."),
    f"{_POOL}.lustreMounts": refused("Network file systems are not mounted here."),
    f"{_POOL}.pythonPackageSpec": refused(NO_PACKAGES),
    "jobSpec.scheduling.timeout": emulated("The job ends after this time; default 604800s."),
    "jobSpec.scheduling.restartJobOnWorkerRestart": emulated("All replicas restart when one does."),
    "jobSpec.scheduling.disableRetries": emulated("The job is not retried, nor restarted with a worker."),
    "jobSpec.scheduling.maxWaitDuration": recorded("Machines are available at once."),
    "jobSpec.scheduling.strategy": recorded(
        "Machines are available at once and stay; Local.Faults can take them away."
    ),
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


_TPUS: Final = dict.fromkeys(TPU_MACHINES[ReplicaJobKind.TRAINING_JOB], NO_TPU)
_RESULT: Final = "The service fills it in; a request has none."
_ROLES: Final = {
    "master": "the master",
    "worker": "each worker",
    "parameterServer": "each parameter server",
    "evaluator": "each evaluator",
}


def _role(name: str, spoken: str) -> dict[str, CoverageRow]:
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


TRAINING_JOB: Final[dict[str, CoverageRow]] = {
    "jobId": emulated("Names the job. Default: the file name and the time."),
    "labels": recorded("Kept with the job."),
    "etag": recorded("The job has only one writer here."),
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
    "trainingInput.scheduling.maxRunningTime": emulated("The job is cancelled after this time; default 604800s."),
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


def table(kind: ReplicaJobKind) -> Mapping[str, CoverageRow]:
    """The coverage table of a kind of job."""
    if kind is ReplicaJobKind.TRAINING_JOB:
        return TRAINING_JOB

    return CUSTOM_JOB


def rows_of(kind: ReplicaJobKind, request: Mapping[str, Any]) -> Iterator[tuple[str, Path, Any]]:
    """The members of a request that have a row: its name, their path and value."""
    yield from _rows(table(kind), request, "", ())


def _rows(rows: Mapping[str, CoverageRow], value: Any, name: str, path: Path) -> Iterator[tuple[str, Path, Any]]:
    if name in rows:
        yield name, path, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _rows(rows, item, f"{name}.{key}" if name else key, (*path, key))
    elif isinstance(value, list):
        whole = f"{name}[]" if f"{name}[]" in rows else ""
        if whole and value:
            yield whole, path, value
        for index, item in enumerate([] if whole else value):
            yield from _rows(rows, item, f"{name}[]", (*path, index))


def refused_members(kind: ReplicaJobKind, request: Mapping[str, Any]) -> list[tuple[str, Path, str]]:
    """The refused members of a request: the name of the row, the path, and the rest of a sentence about it."""
    found = []
    for name, path, value in rows_of(kind, request):
        row = table(kind)[name]
        if row.support is Support.REFUSED:
            found.append((name, path, f"is refused: {row.note}"))
        for pattern, reason in row.refused.items():
            if isinstance(value, str) and fnmatchcase(value, pattern):
                found.append((name, path, f"is {value}, which is refused: {reason}"))
    return found


def recorded_members(kind: ReplicaJobKind, request: Mapping[str, Any]) -> tuple[str, ...]:
    """The members of a request that are stored and echoed and have no effect."""
    present = dict.fromkeys(name for name, _, _ in rows_of(kind, request))
    return tuple(name for name in present if table(kind)[name].support is Support.RECORDED)


def coverage_json() -> dict[str, Any]:
    """Both tables for `smlocal coverage --json`, in the form of those of other platforms."""
    return {kind.value: {name: _row(row) for name, row in table(kind).items()} for kind in ReplicaJobKind}


def _row(row: CoverageRow) -> dict[str, Any]:
    shown: dict[str, Any] = {"support": row.support.value, "note": row.note}
    if row.refused:
        shown["values"] = {
            pattern: {"support": Support.REFUSED.value, "note": reason} for pattern, reason in row.refused.items()
        }
    return shown
