"""Transform jobs: made from a model that a client has made."""

import os
from contextlib import ExitStack
from typing import Final

from smlocal.endpoint.call import AwsCall, validation_error
from smlocal.endpoint.objects.listing import walk
from smlocal.endpoint.sagemaker.job_operations import JobOperations, limit_to_rights, refusals_answered
from smlocal.endpoint.sagemaker.named_jobs import NamedJobs
from smlocal.endpoint.sagemaker.request_folders import bucket_of, folder_of, no_objects
from smlocal.endpoint.sagemaker.resources import MODEL, found
from smlocal.endpoint.serving import Serving
from smlocal.jobfile.document import Document
from smlocal.jobfile.option import LOCAL
from smlocal.sagemaker import kinds
from smlocal.sagemaker.transform.facts import NO_DATA_SOURCE
from smlocal.sagemaker.transform.known_models import add_model
from smlocal.sagemaker.transform.transform_file import TransformFile, read_transform


def _read(serving: Serving, call: AwsCall, _: ExitStack) -> TransformFile:
    model = dict(found(serving, MODEL, call.parameters["ModelName"], region=call.region).body)
    containers = [model.get("PrimaryContainer") or {}, *(model.get("Containers") or ())]
    if any(each.get("ModelDataSource") for each in containers):
        raise validation_error(NO_DATA_SOURCE)
    document = Document(dict(call.parameters), name="request", directory="/")
    add_model(document.data, model)
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
    read=_read,
    deleted=False,
)
