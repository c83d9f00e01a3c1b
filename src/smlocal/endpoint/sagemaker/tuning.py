"""Operations on tuning jobs."""

from collections.abc import Mapping
from contextlib import ExitStack, suppress
from typing import Any, Final

from smlocal.api.removing import remove
from smlocal.api.stopping import stop
from smlocal.base.quick_dataclass import dataclass
from smlocal.endpoint.aws_calls import Handler
from smlocal.endpoint.call import AwsCall, HasStore, ServiceError, validation_error
from smlocal.endpoint.sagemaker.creating import in_one_line, submitted_code
from smlocal.endpoint.sagemaker.jobs import unknown_job
from smlocal.endpoint.sagemaker.pages import page_of, take, take_jobs
from smlocal.endpoint.sagemaker.request_folders import local_block
from smlocal.endpoint.serving import Serving
from smlocal.errors import (
    InstanceLimitError,
    JobFinishedError,
    JobNotFinishedError,
    JobUnknownError,
    NameInUseError,
    RequestInvalidError,
    SmlocalError,
)
from smlocal.jobfile.document import Document
from smlocal.jobfile.option import LOCAL
from smlocal.jobs.documents import REQUEST
from smlocal.jobs.finish.describe import describe_job, list_entry
from smlocal.jobs.store.records import JobRecord
from smlocal.sagemaker.tuning import facts
from smlocal.sagemaker.tuning.planning import submit_tuning
from smlocal.sagemaker.tuning.state import read_trials, summary, with_record
from smlocal.sagemaker.tuning.trials import Objective
from smlocal.sagemaker.tuning.tuning_file import TuningFile, read_tuning


def create_tuning_job(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """Record the tuning job, and answer. Its training jobs are made by a process of its own."""
    document = Document(dict(call.parameters), name="request", directory="/")
    parts = [{**local_block(serving, each), "Region": call.region} for each in _as_training_jobs(document.data)]
    document.data[LOCAL], document.local_of_parts = parts[0], parts if len(parts) > 1 else ()
    file = _read(document)
    name = file.raw.get("HyperParameterTuningJobName")
    if name is None:
        raise validation_error(
            "1 validation error detected: Value null at 'hyperParameterTuningJobName' failed to satisfy constraint: "
            "Member must not be null"
        )
    with ExitStack() as kept:
        for local, definition in zip(parts, file.definitions, strict=True):
            code = kept.enter_context(submitted_code(serving, name, definition.request))
            if code is not None and "Code" not in local:
                local["Code"] = code
        file = _read(document)
        try:
            record = submit_tuning(file, name=name, store=serving.store, limit=serving.options.limit)
        except NameInUseError:
            raise ServiceError(
                "ResourceInUse",
                "Hyperparameter tuning job names must be unique within an AWS account and region, and a job with this "
                f"name already exists ({name})",
            ) from None
        except InstanceLimitError as error:
            raise ServiceError("ResourceLimitExceeded", error.sentence) from None
        except SmlocalError as error:
            raise validation_error(in_one_line(error)) from None
    serving.waiting_jobs.look()
    serving.submitted(name)
    return {"HyperParameterTuningJobArn": record.arn}


def _as_training_jobs(request: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The parts of each definition that say which folders of this machine are meant, as a training job has them."""
    several = request.get("TrainingJobDefinitions")
    given = [request.get("TrainingJobDefinition"), *(several if isinstance(several, list) else ())]
    local = {LOCAL: request[LOCAL]} if LOCAL in request else {}
    return [
        {**each, "HyperParameters": each.get("StaticHyperParameters"), **local}
        for each in [each for each in given if isinstance(each, dict)] or [{}]
    ]


def _read(document: Document) -> TuningFile:
    try:
        return read_tuning(document)
    except RequestInvalidError as error:
        raise validation_error(error.service_message or in_one_line(error)) from None
    except SmlocalError as error:
        raise validation_error(in_one_line(error)) from None


def called_tuning(serving: Serving, call: AwsCall) -> JobRecord:
    """The tuning job that the call names."""
    with suppress(JobUnknownError):
        record = serving.store.get(call.parameters["HyperParameterTuningJobName"])
        if record.platform == facts.NAME:
            return record
    raise unknown_job()


def describe_tuning_job(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """Exactly the members of the service."""
    return describe_job(serving.store, called_tuning(serving, call).name, service=True)


def list_tuning_jobs(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """Newest first, ten at a time, as the service does unless it is told otherwise."""
    return page_of(
        take_jobs(serving, call.parameters, platform=facts.NAME),
        call.parameters,
        member="HyperParameterTuningJobSummaries",
        summary=lambda record: _summary(serving, record),
        status=lambda record: record.status,
    )


def _summary(serving: HasStore, record: JobRecord) -> dict[str, Any]:
    _, entry = list_entry(serving.store, record)
    return {name: value for name, value in entry.items() if value is not None and name != "FailureReason"}


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
    found = [_Child(summary=each) for each in training_job_summaries(serving, called_tuning(serving, call).name)]
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


def stop_tuning_job(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """Answers once the stop is recorded."""
    record = called_tuning(serving, call)
    try:
        stop(serving.store, record.name, grace=None, on_message=lambda _: None)
    except JobFinishedError as error:
        raise validation_error(error.sentence) from None
    except JobUnknownError:
        raise unknown_job() from None
    return {}


def delete_tuning_job(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """Remove a tuning job that has ended. Its training jobs stay."""
    record = called_tuning(serving, call)
    try:
        remove(serving.store, record.name, stop=False, force=False, abandon=False, on_message=serving.log)
    except JobNotFinishedError:
        raise validation_error(
            f"The request was rejected because the tuning job is in status {record.status}."
        ) from None
    except JobUnknownError:
        raise unknown_job() from None
    return {}


HANDLERS: Final[Mapping[str, Handler]] = {
    "CreateHyperParameterTuningJob": create_tuning_job,
    "DeleteHyperParameterTuningJob": delete_tuning_job,
    "DescribeHyperParameterTuningJob": describe_tuning_job,
    "ListHyperParameterTuningJobs": list_tuning_jobs,
    "ListTrainingJobsForHyperParameterTuningJob": list_training_jobs_of,
    "StopHyperParameterTuningJob": stop_tuning_job,
}
