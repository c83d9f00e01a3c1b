"""Job files of every platform: which one a document is written for, and the job made from it."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from smlocal.errors import IsAProcessingJobError, IsATransformJobError, PathNotAllowedError, UsageRefusedError
from smlocal.jobfile.document import Document
from smlocal.jobfile.option import LOCAL
from smlocal.sagemaker.contract.model.request import CreateTrainingJobRequest
from smlocal.sagemaker.jobfile.job_file import JobFile
from smlocal.sagemaker.processing.facts import is_processing

if TYPE_CHECKING:
    from smlocal.ai_platform.jobfile.job_file import ReplicaJobFile
    from smlocal.engine.engines import Engines
    from smlocal.jobs.contract.compared_job import ComparedJob
    from smlocal.jobs.planning.model import JobPlan
    from smlocal.jobs.prepared import Prepared
    from smlocal.jobs.view import Reporter
    from smlocal.sagemaker.hosting.model_file import ModelFile
    from smlocal.sagemaker.processing.job_file import ProcessingFile
    from smlocal.sagemaker.transform.transform_file import TransformFile
    from smlocal.sagemaker.tuning.tuning_file import TuningFile

    AnyJobFile = JobFile | ReplicaJobFile | ProcessingFile | TransformFile | TuningFile

_MOST_FOLDERS = 5
"""Allowed folders that a message names."""


def is_replica_job(data: Mapping[str, Any]) -> bool:
    """True for a job of AI Platform Training or a custom job, by the keys of its document."""
    if not any(key[:1].islower() for key in data):
        return False  # without an import: members of CreateTrainingJob begin with a capital letter
    from smlocal.ai_platform.shape import job_kinds

    return bool(job_kinds(data))


def is_transform_job(data: Mapping[str, Any]) -> bool:
    """True for a CreateTransformJob request, by the keys of its document."""
    return "TransformInput" in data and "AlgorithmSpecification" not in data


def is_tuning_job(data: Mapping[str, Any]) -> bool:
    """True for a CreateHyperParameterTuningJob request."""
    return "HyperParameterTuningJobConfig" in data


def read_tuning_job(
    document: Document, *, name: str | None, stem: str, strict: bool, local_allowed: bool = True
) -> "tuple[TuningFile, str]":
    """The validated tuning job, and its name; `stem` is that of its file."""
    from smlocal.sagemaker.tuning.tuning_file import default_name, read_tuning

    if name is not None:
        document.set(("HyperParameterTuningJobName",), name)
    job = read_tuning(document, strict=strict, local_allowed=local_allowed)
    return job, job.raw.get("HyperParameterTuningJobName") or default_name(stem, datetime.now().astimezone())


def refuse_tuning_job(document: Document) -> None:
    """Refuse a document that describes a tuning job."""
    if is_tuning_job(document.data):
        from smlocal.errors.tuning import IsATuningJobError

        raise IsATuningJobError(
            f"{document.name} describes a tuning job, and this takes training jobs",
            remedy=["A tuning job runs here with: smlocal run FILE"],
        )


def has_environment(data: Mapping[str, Any]) -> bool:
    """True if the request of a job of replicas can set environment variables."""
    from smlocal.ai_platform.model.members import ReplicaJobKind
    from smlocal.ai_platform.shape import job_kinds

    return ReplicaJobKind.CUSTOM_JOB in job_kinds(data)


def refuse_misspelt_key(document: Document) -> None:
    """Refuse a document whose only meaning is that of a misspelt key of a job of replicas."""
    data = document.data
    if not data or "AlgorithmSpecification" in data or "OutputDataConfig" in data:
        return  # without an import: nearly every CreateTrainingJob request has one of them
    known = {name.casefold() for name in CreateTrainingJobRequest.__annotations__}
    if any(key.casefold() in known for key in data):
        return
    from smlocal.ai_platform.shape import refuse_misspelt_key as refuse

    refuse(document)


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
    from smlocal.errors.hosting import IsAnEndpointError

    raise IsAnEndpointError(
        f"{document.name} describes an endpoint, not a job", remedy=["Deploy it: smlocal deploy FILE"]
    )


def prepare(
    job: "AnyJobFile | ModelFile", *, name: str, home: str, engines: "Engines", reporter: "Reporter", strict: bool
) -> "Prepared":
    """Check everything that can be checked before a job is made. Mistakes are an error."""
    with _limited_by(job):
        if isinstance(job, JobFile):
            from smlocal.sagemaker.prepare import prepare as prepare_sagemaker

            return prepare_sagemaker(job, name=name, home=home, engines=engines, reporter=reporter, strict=strict)
        from smlocal.sagemaker.processing.job_file import ProcessingFile

        if isinstance(job, ProcessingFile):
            from smlocal.sagemaker.processing.planning import prepare as prepare_processing

            return prepare_processing(job, name=name, home=home, engines=engines, reporter=reporter, strict=strict)
        from smlocal.sagemaker.hosting.model_file import (
            ModelFile,  # the other two kinds are told apart by a module of one
        )

        if isinstance(job, ModelFile):
            from smlocal.sagemaker.hosting.planning import prepare as prepare_endpoint

            return prepare_endpoint(job, name=name, home=home, engines=engines, reporter=reporter)
        from smlocal.sagemaker.transform.transform_file import TransformFile

        if isinstance(job, TransformFile):
            from smlocal.sagemaker.transform.planning import prepare as prepare_transform

            return prepare_transform(job, name=name, home=home, engines=engines, reporter=reporter)
        from smlocal.sagemaker.tuning.tuning_file import TuningFile  # as above

        if isinstance(job, TuningFile):
            from smlocal.sagemaker.tuning.planning import prepare as prepare_tuning

            return prepare_tuning(job, name=name, home=home, engines=engines, reporter=reporter)
        from smlocal.ai_platform.job_preparation import prepare as prepare_replicas

        return prepare_replicas(job, name=name, home=home, engines=engines, reporter=reporter, strict=strict)


def plan_job(job: "AnyJobFile", *, name: str, home: str, engines: "Engines", strict: bool) -> "JobPlan":
    """Only the plan: no image is pulled, and missing GPUs are not an error."""
    with _limited_by(job):
        if isinstance(job, JobFile):
            from smlocal.sagemaker.prepare import plan_job as plan_sagemaker

            return plan_sagemaker(job, name=name, home=home, engines=engines, strict=strict)
        from smlocal.sagemaker.processing.job_file import ProcessingFile

        if isinstance(job, ProcessingFile):
            from smlocal.sagemaker.processing.planning import plan_job as plan_processing

            return plan_processing(job, name=name, home=home, engines=engines, strict=strict)
        from smlocal.sagemaker.transform.transform_file import TransformFile  # as above

        if isinstance(job, TransformFile):
            from smlocal.sagemaker.transform.planning import plan_only as plan_transform

            return plan_transform(job, name=name, home=home, engines=engines)
        from smlocal.sagemaker.tuning.tuning_file import TuningFile  # as above

        if isinstance(job, TuningFile):
            from smlocal.sagemaker.tuning.planning import plan_job as plan_tuning

            return plan_tuning(job, name=name, home=home, engines=engines)
        from smlocal.ai_platform.job_preparation import plan_job as plan_replicas

        return plan_replicas(job, name=name, home=home, engines=engines)


def absent_paths(job: "AnyJobFile") -> list[str]:
    """A line for each local path that the job reads and that is not there."""
    from smlocal.sagemaker.processing.job_file import ProcessingFile

    if isinstance(job, ProcessingFile):
        from smlocal.sagemaker.processing.equal_training_job import equal_training_job

        job = equal_training_job(job)
    if not isinstance(job, JobFile):
        return []  # a folder for a bucket is made if it is not there
    from smlocal.jobs.planning.aspects.inputs.look import absent_paths as absent  # it loads the engine

    with _limited_by(job):
        return absent(job)


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


def coverage_tables() -> dict[str, dict[str, Any]]:
    """How each member of a request is handled, by the request's name."""
    from smlocal.ai_platform.coverage.lookup import coverage_json as of_replicas
    from smlocal.sagemaker.requests import REQUESTS

    return {**{name: each.members.as_json() for name, each in REQUESTS.items()}, **of_replicas()}


def job_file_schema(request: str) -> dict[str, Any]:
    """The JSON Schema of the file that holds a request, by its name as in `coverage_tables`."""
    from smlocal.sagemaker.requests import REQUESTS

    if request in REQUESTS:
        return REQUESTS[request].schema()
    from smlocal.ai_platform.jobfile.schema import job_file_schema as of_replicas
    from smlocal.ai_platform.model.members import ReplicaJobKind

    return of_replicas(ReplicaJobKind(request))


def answer_schema(request: str) -> dict[str, Any]:
    """Properties of what the platform of jobs of replicas answers, and which are always there."""
    from smlocal.ai_platform.jobfile.schema import answer_schema as of_replicas
    from smlocal.ai_platform.model.members import ReplicaJobKind

    return of_replicas(ReplicaJobKind(request))


def replica_kind(data: Mapping[str, Any]) -> str:
    """The words for the job of replicas in a document, for sentences."""
    from smlocal.ai_platform.shape import job_kind

    return job_kind(data).spoken


def is_replica_answer(data: Mapping[str, Any]) -> bool:
    """True if a document of a job of replicas is what its platform answers; False for a request."""
    from smlocal.ai_platform.comparison import is_answer

    return is_answer(data)


def replica_job_text(document: Document, *, file: str) -> str | None:
    """The job file of a job of replicas that its platform has described; None if the document is a job file."""
    from smlocal.ai_platform.jobfile.job_file import job_file_text

    return job_file_text(document, file=file)


def compared_replica_job(document: Document) -> "ComparedJob":
    """The members by which a job of replicas is compared: from a request, or from an answer."""
    from smlocal.ai_platform.comparison import compared_job

    return compared_job(document)


def read_processing_job(
    document: Document, *, stem: str, strict: bool, local_allowed: bool = True
) -> "tuple[ProcessingFile, str]":
    """The validated processing job, and its name; `stem` is that of its file."""
    from smlocal.sagemaker.contract.identity import default_name
    from smlocal.sagemaker.processing.job_file import read_processing

    job = read_processing(document, strict=strict, local_allowed=local_allowed)
    return job, job.request.ProcessingJobName or default_name(stem, datetime.now().astimezone())


def read_replica_job(
    document: Document, *, name: str | None, stem: str, strict: bool, local_allowed: bool = True
) -> "tuple[ReplicaJobFile, str]":
    """The validated job of replicas, and its name; `stem` is that of its file."""
    from smlocal.ai_platform.identity import broken_name_rule, job_name
    from smlocal.ai_platform.jobfile.job_file import read_job

    job = read_job(document, strict=strict, local_allowed=local_allowed)
    broken = None if name is None else broken_name_rule(job.kind, name)
    if broken is not None:
        raise UsageRefusedError(
            f"{name!r} cannot be the name of a {job.kind.spoken}",
            remedy=[f"Choose a name that has {broken}."],
        )
    return job, name or job_name(job.kind, job.request, stem=stem, now=datetime.now().astimezone())


def read_again(document: Document, *, name: str | None, recorded: str, strict: bool) -> "tuple[ReplicaJobFile, str]":
    """The validated job of another run, which gets a new name like that of the recorded one."""
    document.data.pop("jobId", None)
    return read_replica_job(
        document, name=name, stem=re.sub(r"([_-])\d{8}\1\d{6}\1\d{3}$", "", recorded), strict=strict
    )
