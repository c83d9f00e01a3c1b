"""CreateTrainingJob."""

from collections.abc import Iterator
from typing import Any

from smlocal.errors import (
    FieldRefusedError,
    InstanceLimitError,
    NameInUseError,
    OutputUnusableError,
    PathNotAllowedError,
    RequestInvalidError,
    SmlocalError,
)
from smlocal.jobfile.document import Document
from smlocal.jobfile.option import LOCAL
from smlocal.platforms.sagemaker.jobfile.job_file import JobFile, read_job
from smlocal.platforms.sagemaker.submit import submit
from smlocal.server.call import Call, ServiceError, validation_error
from smlocal.server.objects.bucket_folder import BucketFolder
from smlocal.server.objects.listing import walk
from smlocal.server.sagemaker.request_folders import bucket_of, local_block, no_objects
from smlocal.server.sagemaker.submitted_code import submitted_code
from smlocal.server.serving import Serving
from smlocal.store.records import JobRecord


def create_training_job(serving: Serving, call: Call) -> dict[str, Any]:
    """Record the job, and answer. It is started by a process of its own."""
    job = _read(serving, call)
    name = job.request.TrainingJobName
    if name is None:
        raise validation_error(
            "1 validation error detected: Value null at 'trainingJobName' failed to satisfy constraint: "
            "Member must not be null"
        )
    try:
        return {"TrainingJobArn": start_job(serving, job, name=name, region=call.region).arn}
    except NameInUseError:
        raise ServiceError(
            "ResourceInUse",
            "Training job names must be unique within an AWS account and region, and a training job with this name "
            f"already exists ({name})",
        ) from None
    except InstanceLimitError as error:
        raise ServiceError("ResourceLimitExceeded", error.sentence) from None


def limit_to_rights(serving: Serving, document: Document, *, region: str) -> None:
    """Give the document the `Local` block that a client of this server may have; `ServiceError` if it asks for more."""
    document.data[LOCAL] = {**local_block(serving, document.data), "Region": region}


def start_job(serving: Serving, job: JobFile, *, name: str, region: str) -> JobRecord:
    """Record a job whose document was limited to the rights of clients."""
    missing = next(_without_data(serving, job), None)
    if missing is not None:
        raise no_objects(missing, region=region, role=job.raw.get("RoleArn", ""))
    with submitted_code(serving, name, job.raw) as code:
        if code is not None and job.local.Code is None:
            job.document.data[LOCAL]["Code"] = code
            job = read_job(job.document, strict=False)
        try:
            record = submit(job, name=name, store=serving.store, limit=serving.options.limit)
        except (OutputUnusableError, PathNotAllowedError) as error:
            raise validation_error(_in_one_line(error)) from None
    serving.starting.look()
    serving.submitted(name)
    return record


def _read(serving: Serving, call: Call) -> JobFile:
    """The validated job. The folder for relative paths is the root: there is none that a client knows."""
    document = Document(dict(call.parameters), name="request", directory="/")
    limit_to_rights(serving, document, region=call.region)
    try:
        return read_job(document, strict=False)
    except RequestInvalidError as error:
        raise validation_error(error.service_message or _in_one_line(error)) from None
    except (FieldRefusedError, SmlocalError) as error:
        raise validation_error(_in_one_line(error)) from None


def _in_one_line(error: SmlocalError) -> str:
    return "; ".join([error.with_details, *error.remedy])


def _without_data(serving: Serving, job: JobFile) -> Iterator[str]:
    """Channels whose bucket is a folder here that has no object with the prefix. The service refuses these."""
    for channel in job.request.InputDataConfig or ():
        source = channel.DataSource.S3DataSource
        found = None if source is None else bucket_of(serving, source.S3Uri)
        if source is not None and found is not None and not _any_object(*found):
            yield source.S3Uri


def _any_object(bucket: BucketFolder, prefix: str) -> bool:
    return any(not found.key.endswith("/") for found in walk(bucket, prefix=prefix))
