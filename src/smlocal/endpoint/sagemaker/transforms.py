"""Transform jobs: made from a model that a client has made, described, listed and stopped."""

import os
from typing import Any, Final

from smlocal.endpoint.call import AwsCall, HasStore, ServiceError, validation_error
from smlocal.endpoint.objects.listing import walk
from smlocal.endpoint.sagemaker.creating import limit_to_rights, refusals_answered
from smlocal.endpoint.sagemaker.named_jobs import NamedJobs
from smlocal.endpoint.sagemaker.pages import page_of, take_jobs
from smlocal.endpoint.sagemaker.request_folders import bucket_of, folder_of, no_objects
from smlocal.endpoint.sagemaker.resources import MODEL, found
from smlocal.endpoint.serving import Serving
from smlocal.errors import InstanceLimitError, NameInUseError
from smlocal.jobfile.document import Document
from smlocal.jobfile.option import LOCAL
from smlocal.jobs.store.records import JobRecord
from smlocal.sagemaker.transform.facts import NAME, NO_DATA_SOURCE
from smlocal.sagemaker.transform.known_models import add_model
from smlocal.sagemaker.transform.planning import submit
from smlocal.sagemaker.transform.transform_file import TransformFile, read_transform

TRANSFORM_JOBS: Final = NamedJobs(
    platform=NAME,
    member="TransformJobName",
    ended="The request was rejected because the transform job is in status {status}.",
)


def create_transform_job(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """Record the job, and answer. It is started by a process of its own."""
    asked = call.parameters
    name, region = asked["TransformJobName"], call.region
    model = found(serving, MODEL, asked["ModelName"], region=region)
    containers = [model.body.get("PrimaryContainer") or {}, *(model.body.get("Containers") or ())]
    if any(each.get("ModelDataSource") for each in containers):
        raise validation_error(NO_DATA_SOURCE)
    job = _read(serving, call, dict(model.body))
    _check_data(serving, job, region=region)
    try:
        record = submit(job, name=name, store=serving.store, limit=serving.options.limit)
    except NameInUseError:
        raise TRANSFORM_JOBS.in_use(serving, call) from None
    except InstanceLimitError as error:
        raise ServiceError("ResourceLimitExceeded", error.sentence) from None
    serving.waiting_jobs.look()
    serving.submitted(name)
    return {"TransformJobArn": record.arn}


def _read(serving: Serving, call: AwsCall, model: dict[str, Any]) -> TransformFile:
    document = Document(dict(call.parameters), name="request", directory="/")
    add_model(document.data, model)
    limit_to_rights(serving, document, region=call.region)
    uri = call.parameters["TransformOutput"]["S3OutputPath"]
    if uri.startswith("s3://") and folder_of(serving, uri) is None:
        # Jobs share the folder for what is in no bucket here.
        document.data[LOCAL]["Output"] = os.path.join(serving.artifacts, call.parameters["TransformJobName"])
    with refusals_answered():
        return read_transform(document)


def _check_data(serving: Serving, job: TransformFile, *, region: str) -> None:
    """`ServiceError` for a bucket that is a folder here and has no object with the prefix, as the service answers."""
    uri = job.request.TransformInput.DataSource.S3DataSource.S3Uri
    place = bucket_of(serving, uri)
    if place is not None and not any(not each.key.endswith("/") for each in walk(place[0], prefix=place[1])):
        raise no_objects(uri, region=region, role=job.model.role)


def list_transform_jobs(serving: HasStore, call: AwsCall) -> dict[str, Any]:
    """One page of them."""
    return page_of(
        take_jobs(serving, call.parameters, platform=NAME),
        call.parameters,
        member="TransformJobSummaries",
        summary=_summary,
        status=lambda record: record.status,
    )


def _summary(record: JobRecord) -> dict[str, Any]:
    ended = record.modified if record.ended is None else record.ended
    return {
        "TransformJobName": record.name,
        "TransformJobArn": record.arn,
        "CreationTime": record.created,
        **({"TransformEndTime": ended} if record.status.terminal else {}),
        "LastModifiedTime": record.modified,
        "TransformJobStatus": record.status,
        **({"FailureReason": record.failure_reason} if record.failure_reason else {}),
    }
