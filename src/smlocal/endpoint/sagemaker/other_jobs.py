"""Operations on tuning jobs and transform jobs."""

import os
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.endpoint.call import AwsCall, validation_error
from smlocal.endpoint.objects.listing import walk
from smlocal.endpoint.sagemaker.creating import submitted_code
from smlocal.endpoint.sagemaker.job_operations import JobOperations, limit_to_rights, refusals_answered
from smlocal.endpoint.sagemaker.model_documents import local_of
from smlocal.endpoint.sagemaker.named_jobs import NamedJobs
from smlocal.endpoint.sagemaker.pages import page_of, take
from smlocal.endpoint.sagemaker.request_folders import bucket_of, folder_of, local_block, no_objects, with_sources
from smlocal.endpoint.sagemaker.resources import MODEL, found
from smlocal.endpoint.serving import Serving
from smlocal.errors import JobUnknownError
from smlocal.jobfile.document import Document
from smlocal.jobfile.option import LOCAL
from smlocal.jobs.documents import REQUEST
from smlocal.sagemaker import kinds
from smlocal.sagemaker.serving.model_registry import served, sources_of
from smlocal.sagemaker.transform.facts import NO_DATA_SOURCE
from smlocal.sagemaker.transform.known_models import add_model
from smlocal.sagemaker.transform.transform_file import TransformFile, read_transform
from smlocal.sagemaker.tuning.state import read_trials, summary, with_record
from smlocal.sagemaker.tuning.trials import Objective
from smlocal.sagemaker.tuning.tuning_file import TuningFile, read_tuning
from smlocal.sagemaker.tuning.warm_start import earlier_of


def _read(serving: Serving, call: AwsCall, stack: ExitStack) -> TuningFile:
    """The validated tuning job, with the code of its training jobs."""
    document = Document(dict(call.parameters), name="request", directory=serving.directory)
    parts = [{**local_block(serving, each), "Region": call.region} for each in _definitions(document.data)]
    document.data[LOCAL], document.local_of_parts = parts[0], parts if len(parts) > 1 else ()
    with refusals_answered():
        file = read_tuning(document)
    name = file.raw.get("HyperParameterTuningJobName")
    if name is None:
        return file
    for local, definition in zip(parts, file.definitions, strict=True):
        code = stack.enter_context(submitted_code(serving, name, definition.request))
        if code is not None and "Code" not in local:
            local["Code"] = code
    with refusals_answered():
        file = read_tuning(document)
        earlier_of(file, serving.store)  # that cannot be used are an error now
    return file


def _definitions(request: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Its definitions, each with the settings of this machine: they say which folders are meant."""
    several = request.get("TrainingJobDefinitions")
    given = [request.get("TrainingJobDefinition"), *(several if isinstance(several, list) else ())]
    local = {LOCAL: request[LOCAL]} if LOCAL in request else {}
    return [{**each, **local} for each in [each for each in given if isinstance(each, dict)] or [{}]]


_OBJECTIVE: Final = "FinalHyperParameterTuningJobObjectiveMetric"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Child:
    """A training job of a tuning job in a list."""

    summary: Mapping[str, Any]

    @property
    def name(self) -> str:
        return str(self.summary["TrainingJobName"])

    @property
    def created(self) -> float:
        return float(self.summary["CreationTime"])

    @property
    def modified(self) -> float:
        return self.created  # no filter asks for it

    @property
    def status(self) -> str:
        return str(self.summary["TrainingJobStatus"])

    @property
    def value(self) -> float:
        return float(self.summary[_OBJECTIVE]["Value"])


def list_training_jobs_of(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """Its training jobs, by their names unless it is told otherwise."""
    asked = call.parameters
    found = [_Child(summary=each) for each in training_job_summaries(serving, TUNING.jobs.called(serving, call).name)]
    if asked.get("SortBy") == "FinalObjectiveMetricValue":  # only those that have one are listed then
        found = [each for each in found if _OBJECTIVE in each.summary]
    taken = take(
        found,
        asked,
        others={"Status": lambda each: each.status, "FinalObjectiveMetricValue": lambda each: each.value},
        by="Name",
        order="Ascending",
    )
    return page_of(
        taken, asked, member="TrainingJobSummaries", summary=lambda each: each.summary, status=lambda each: each.status
    )


def training_job_summaries(serving: Serving, name: str) -> list[dict[str, Any]]:
    """Each as it is now: the leader of the search may be a little behind."""
    request = serving.store.document(name, REQUEST)
    config = request["HyperParameterTuningJobConfig"]
    definitions = [each for each in [request.get("TrainingJobDefinition")] if each]
    definitions += request.get("TrainingJobDefinitions") or []
    found = []
    for trial in read_trials(serving.store, name):
        definition = definitions[trial.definition]
        given = definition.get("TuningObjective") or config["HyperParameterTuningJobObjective"]
        if not trial.over:
            with suppress(JobUnknownError):
                record = serving.store.get(trial.name)
                if record.status.terminal:  # its objective is not read yet
                    trial.arn, trial.created, trial.started = record.arn, record.created, record.started
                else:
                    with_record(trial, record)
        if trial.created is not None:
            objective = Objective(metric=given["MetricName"], direction=given["Type"])
            found.append(summary(trial, objective, definition.get("DefinitionName")))
    return found


TUNING: Final = JobOperations(
    jobs=NamedJobs(
        kind=kinds.TUNING,
        in_use_text="Hyperparameter tuning job names must be unique within an AWS account and region, and a job with "
        "this name already exists ({name})",
        unknown_text="Requested resource not found.",
    ),
    read=_read,
    lists_reasons=False,
    others={"ListTrainingJobsForHyperParameterTuningJob": list_training_jobs_of},
)


def _read_transform(serving: Serving, call: AwsCall, _: ExitStack) -> TransformFile:
    stored = found(serving, MODEL, call.parameters["ModelName"], region=call.region).body
    model = served(stored)
    containers = [model.get("PrimaryContainer") or {}, *(model.get("Containers") or ())]
    if any(each.get("ModelDataSource") for each in containers):
        raise validation_error(NO_DATA_SOURCE)
    document = Document(dict(call.parameters), name="request", directory=serving.directory)
    add_model(document.data, model)
    if sources_of(stored):
        document.data[LOCAL] = with_sources(serving, local_of(document.data), sources_of(stored))
    limit_to_rights(serving, document, region=call.region)
    uri = call.parameters["TransformOutput"]["S3OutputPath"]
    if uri.startswith("s3://") and folder_of(serving, uri) is None:
        # Jobs share the folder for what is in no bucket here.
        document.data[LOCAL]["Output"] = os.path.join(serving.artifacts, call.parameters["TransformJobName"])
    with refusals_answered():
        job = read_transform(document)
    _check_data(serving, job, region=call.region)
    return job


def _check_data(serving: Serving, job: TransformFile, *, region: str) -> None:
    """`ServiceError` for a bucket that is a folder here and has no object with the prefix, as the service answers."""
    uri = job.request.TransformInput.DataSource.S3DataSource.S3Uri
    place = bucket_of(serving, uri)
    if place is not None and not any(not each.key.endswith("/") for each in walk(place[0], prefix=place[1])):
        raise no_objects(uri, region=region, role=job.model.role)


TRANSFORM: Final = JobOperations(
    jobs=NamedJobs(
        kind=kinds.TRANSFORM,
        ended_text="The request was rejected because the transform job is in status {status}.",
    ),
    read=_read_transform,
    deleted=False,
)
