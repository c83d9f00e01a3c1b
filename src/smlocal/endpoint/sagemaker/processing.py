"""Processing jobs: made by clients, described, listed, stopped and deleted."""

from typing import Any, Final

from smlocal.api.removing import remove
from smlocal.endpoint.call import AwsCall, HasStore, ServiceError, validation_error
from smlocal.endpoint.sagemaker.creating import in_one_line, limit_to_rights, refusals_answered
from smlocal.endpoint.sagemaker.named_jobs import NamedJobs
from smlocal.endpoint.sagemaker.pages import page_of, take_jobs
from smlocal.endpoint.serving import Serving
from smlocal.errors import (
    InstanceLimitError,
    JobNotFinishedError,
    JobUnknownError,
    NameInUseError,
    SmlocalError,
)
from smlocal.jobfile.document import Document
from smlocal.jobfile.option import LOCAL
from smlocal.jobs.finish.describe import list_entry
from smlocal.jobs.store.records import JobRecord
from smlocal.sagemaker.processing.facts import NAME
from smlocal.sagemaker.processing.job_file import ProcessingFile, read_processing
from smlocal.sagemaker.processing.planning import submit

PROCESSING_JOBS: Final = NamedJobs(platform=NAME, member="ProcessingJobName")


def create_processing_job(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """Record the job, and answer. It is started by a process of its own."""
    name = call.parameters["ProcessingJobName"]
    job = _read(serving, call)
    try:
        record = submit(job, name=name, store=serving.store, limit=serving.options.limit)
    except NameInUseError:
        raise PROCESSING_JOBS.in_use(serving, call) from None
    except InstanceLimitError as error:
        raise ServiceError("ResourceLimitExceeded", error.sentence) from None
    except SmlocalError as error:
        raise validation_error(in_one_line(error)) from None
    serving.waiting_jobs.look()
    serving.submitted(name)
    return {"ProcessingJobArn": record.arn}


def _read(serving: Serving, call: AwsCall) -> ProcessingFile:
    """The validated job. The folder for relative paths is the root: there is none that a client knows."""
    document = Document(dict(call.parameters), name="request", directory="/")
    limit_to_rights(serving, document, region=call.region)
    document.data[LOCAL].setdefault("Output", serving.artifacts)
    with refusals_answered():
        return read_processing(document, strict=False)


def list_processing_jobs(serving: HasStore, call: AwsCall) -> dict[str, Any]:
    """One page of them."""
    return page_of(
        take_jobs(serving, call.parameters, platform=NAME),
        call.parameters,
        member="ProcessingJobSummaries",
        summary=lambda record: _summary(serving, record),
        status=lambda record: record.status,
    )


def _summary(serving: HasStore, record: JobRecord) -> dict[str, Any]:
    _, entry = list_entry(serving.store, record)
    return {name: value for name, value in entry.items() if value is not None}


def delete_processing_job(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """Remove a job that has ended. Its outputs stay."""
    name = PROCESSING_JOBS.called(serving, call).name
    try:
        remove(serving.store, name, stop=False, force=False, abandon=False, on_message=serving.log)
    except JobUnknownError:
        raise PROCESSING_JOBS.unknown(call) from None
    except JobNotFinishedError:
        status = serving.store.get(name).status
        raise validation_error(f"The request was rejected because the processing job is in status {status}.") from None
    return {}
