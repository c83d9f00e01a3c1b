"""Job files of every platform: which one a document is written for, and the job made from it."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from smlocal.ai_platform import shape
from smlocal.ai_platform.model.members import ReplicaJobKind
from smlocal.ai_platform.shape import job_kinds
from smlocal.errors import IsAProcessingJobError, IsATransformJobError, PathNotAllowedError
from smlocal.errors.hosting import IsAnEndpointError
from smlocal.errors.tuning import IsATuningJobError
from smlocal.jobfile.document import Document
from smlocal.jobfile.option import LOCAL
from smlocal.sagemaker.contract.model.request import CreateTrainingJobRequest
from smlocal.sagemaker.jobfile.job_file import JobFile
from smlocal.sagemaker.processing.facts import is_processing

if TYPE_CHECKING:
    from smlocal.ai_platform.jobfile.job_file import ReplicaJobFile
    from smlocal.engine.engines import Engines
    from smlocal.jobs.planning.model import JobPlan
    from smlocal.jobs.prepared import Prepared
    from smlocal.jobs.view import Reporter
    from smlocal.sagemaker.hosting.model_file import ModelFile
    from smlocal.sagemaker.processing.job_file import ProcessingFile
    from smlocal.sagemaker.transform.transform_file import TransformFile
    from smlocal.sagemaker.tuning.tuning_file import TuningFile
    from smlocal.terms.compared_job import ComparedJob

    AnyJobFile = JobFile | ReplicaJobFile | ProcessingFile | TransformFile | TuningFile

_MOST_FOLDERS = 5
"""Allowed folders that a message names."""


class JobReader(Protocol):
    """The module that reads the job files of a kind."""

    def read_named(
        self, document: Document, *, name: str | None, stem: str, strict: bool, local_allowed: bool = True
    ) -> "tuple[AnyJobFile, str]":
        """The validated job, and its name; `stem` is that of its file."""
        ...


class JobPlanner(Protocol):
    """The module that plans the jobs of a kind."""

    def prepare(
        self, job: Any, /, *, name: str, home: str, engines: "Engines", reporter: "Reporter", strict: bool
    ) -> "Prepared":
        """Check everything that can be checked before a job is made. Mistakes are an error."""
        ...

    def plan_job(self, job: Any, /, *, name: str, home: str, engines: "Engines", strict: bool) -> "JobPlan":
        """Only the plan: no image is pulled, and missing GPUs are not an error."""
        ...


_OF_REPLICAS, _PROCESSING, _TRANSFORM, _TUNING = (
    "smlocal.ai_platform.jobfile.job_file",
    "smlocal.sagemaker.processing.job_file",
    "smlocal.sagemaker.transform.transform_file",
    "smlocal.sagemaker.tuning.tuning_file",
)
PLANNING: Final[Mapping[str, str]] = {
    "smlocal.sagemaker.jobfile.job_file": "smlocal.sagemaker.prepare",
    _PROCESSING: "smlocal.sagemaker.processing.planning",
    _TRANSFORM: "smlocal.sagemaker.transform.planning",
    _TUNING: "smlocal.sagemaker.tuning.planning",
    "smlocal.sagemaker.hosting.model_file": "smlocal.sagemaker.hosting.planning",
    _OF_REPLICAS: "smlocal.ai_platform.job_preparation",
}
"""The module that plans a kind of job, by the module of its job files. Each is imported for its own jobs."""


def is_other_kind(data: Mapping[str, Any]) -> bool:
    """True for a document that `read_other` reads: by its keys, anything but a CreateTrainingJob request."""
    return _reading(data) is not None


def read_other(
    document: Document, *, name: str | None, stem: str, strict: bool, local_allowed: bool = True
) -> "tuple[AnyJobFile, str]":
    """The validated job of another kind, and its name; `stem` is that of its file."""
    module = _reading(document.data)
    if module is None:
        raise ValueError("it is a training job")
    reading: JobReader = import_module(module)
    return reading.read_named(document, name=name, stem=stem, strict=strict, local_allowed=local_allowed)


def is_replica_job(data: Mapping[str, Any]) -> bool:
    """True for a job of AI Platform Training or a custom job, by the keys of its document."""
    return bool(job_kinds(data))


def is_transform_job(data: Mapping[str, Any]) -> bool:
    """True for a CreateTransformJob request, by the keys of its document."""
    return "TransformInput" in data and "AlgorithmSpecification" not in data


def is_tuning_job(data: Mapping[str, Any]) -> bool:
    """True for a CreateHyperParameterTuningJob request."""
    return "HyperParameterTuningJobConfig" in data


def _reading(data: Mapping[str, Any]) -> str | None:
    """The module that reads a document, by its keys; None for a CreateTrainingJob request."""
    if is_processing(data):
        return _PROCESSING
    if is_transform_job(data):
        return _TRANSFORM
    if is_tuning_job(data):
        return _TUNING
    return _OF_REPLICAS if is_replica_job(data) else None


def _planning(job: "AnyJobFile | ModelFile") -> JobPlanner:
    module: JobPlanner = import_module(PLANNING[type(job).__module__])
    return module


def refuse_tuning_job(document: Document) -> None:
    """Refuse a document that describes a tuning job."""
    if is_tuning_job(document.data):
        raise IsATuningJobError(
            f"{document.name} describes a tuning job, and this takes training jobs",
            remedy=["A tuning job runs here with: smlocal run FILE"],
        )


def has_environment(data: Mapping[str, Any]) -> bool:
    """True if the request of a job of replicas can set environment variables."""
    return ReplicaJobKind.CUSTOM_JOB in job_kinds(data)


def refuse_misspelt_key(document: Document) -> None:
    """Refuse a document whose only meaning is that of a misspelt key of a job of replicas."""
    data = document.data
    if not data or "AlgorithmSpecification" in data or "OutputDataConfig" in data:
        return
    known = {name.casefold() for name in CreateTrainingJobRequest.__annotations__}
    if any(key.casefold() in known for key in data):
        return
    shape.refuse_misspelt_key(document)


def refuse_model_file(document: Document) -> None:
    """Refuse a document that describes an endpoint, a transform job or a processing job."""
    data = document.data
    if is_transform_job(data):
        raise IsATransformJobError(
            f"{document.name} describes a transform job, and this is about training jobs",
            remedy=["Run it: smlocal run FILE"],
        )
    if "AlgorithmSpecification" in data:
        return
    if is_processing(data):
        raise IsAProcessingJobError(
            f"{document.name} describes a processing job, and this is about training jobs",
            remedy=[
                "Run it here: smlocal run FILE",
                "On the service: smlocal submit FILE --upload-to s3://bucket/prefix",
            ],
        )
    if not {"PrimaryContainer", "Containers", "Models"} & data.keys():
        return
    raise IsAnEndpointError(
        f"{document.name} describes an endpoint, not a job", remedy=["Deploy it: smlocal deploy FILE"]
    )


def prepare(
    job: "AnyJobFile | ModelFile", *, name: str, home: str, engines: "Engines", reporter: "Reporter", strict: bool
) -> "Prepared":
    """Check everything that can be checked before a job is made. Mistakes are an error."""
    with _limited_by(job):
        return _planning(job).prepare(job, name=name, home=home, engines=engines, reporter=reporter, strict=strict)


def plan_job(job: "AnyJobFile", *, name: str, home: str, engines: "Engines", strict: bool) -> "JobPlan":
    """Only the plan: no image is pulled, and missing GPUs are not an error."""
    with _limited_by(job):
        return _planning(job).plan_job(job, name=name, home=home, engines=engines, strict=strict)


def absent_paths(job: "AnyJobFile") -> list[str]:
    """A line for each local path that the job reads and that is not there."""
    equal = as_training_job(job)
    if equal is None:
        return []  # a folder for a bucket is made if it is not there
    from smlocal.jobs.planning.aspects.inputs.look import absent_paths as absent  # it loads the engine

    with _limited_by(equal):
        return absent(equal)


def as_training_job(job: "AnyJobFile") -> JobFile | None:
    """The training job that needs the same of this machine, which is the job itself if it is one; None if none does."""
    if isinstance(job, JobFile):
        return job
    if not is_processing(job.document.data):
        return None
    from smlocal.sagemaker.processing.equal_training_job import equal_training_job

    return equal_training_job(cast("ProcessingFile", job))


@contextmanager
def _limited_by(job: "AnyJobFile | ModelFile") -> Iterator[None]:
    """Say of a path that the job may not use which setting in the user's own file limits it."""
    try:
        yield
    except PathNotAllowedError as error:
        setting = (LOCAL, "AllowedPaths")
        allowed = job.local.AllowedPaths or []
        shown = [*allowed[:_MOST_FOLDERS], *(["…"] if len(allowed) > _MOST_FOLDERS else [])]
        raise PathNotAllowedError(
            error.sentence,
            details=[f"{job.document.where(setting)}   Local.AllowedPaths allows {', '.join(shown) or 'none'}"],
            remedy=["Add the folder to Local.AllowedPaths, or name one that is in it."],
        ) from error


def replica_kind(data: Mapping[str, Any]) -> str:
    """The words for the job of replicas in a document, for sentences."""
    return shape.job_kind(data).spoken


def is_replica_answer(data: Mapping[str, Any]) -> bool:
    """True if a document of a job of replicas is what its platform answers; False for a request."""
    return shape.is_answer(data)


def replica_job_text(document: Document, *, file: str) -> str | None:
    """The job file of a job of replicas that its platform has described; None if the document is a job file."""
    from smlocal.ai_platform.jobfile.job_file import job_file_text

    return job_file_text(document, file=file)


def compared_replica_job(document: Document) -> "ComparedJob":
    """The members by which a job of replicas is compared: from a request, or from an answer."""
    from smlocal.ai_platform.comparison import compared_job

    return compared_job(document)


def read_again(document: Document, *, name: str | None, recorded: str, strict: bool) -> "tuple[AnyJobFile, str]":
    """The validated job of replicas of another run, which gets a new name like that of the recorded one."""
    document.data.pop("jobId", None)
    return read_other(document, name=name, stem=re.sub(r"([_-])\d{8}\1\d{6}\1\d{3}$", "", recorded), strict=strict)
