"""CreateTrainingJob, including code that an SDK has uploaded."""

import json
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import IO, Any

from smlocal.base.foreign_archive.archive import ArchiveLimits, ForeignArchive, unpack
from smlocal.base.foreign_archive.stream import ArchiveError, BeyondLimitError, pieces_of
from smlocal.base.removal import remove_tree
from smlocal.endpoint.call import AwsCall, ServiceError, validation_error
from smlocal.endpoint.objects.bucket_folder import Bucket
from smlocal.endpoint.objects.listing import walk
from smlocal.endpoint.objects.s3_documents import S3CallError
from smlocal.endpoint.sagemaker.request_folders import bucket_of, local_block, no_objects
from smlocal.endpoint.serving import CODE, Serving
from smlocal.errors import (
    InstanceLimitError,
    NameInUseError,
    OutputUnusableError,
    PathNotAllowedError,
    RequestInvalidError,
    SmlocalError,
)
from smlocal.jobfile.document import Document
from smlocal.jobfile.option import LOCAL
from smlocal.jobs.store.records import JobRecord
from smlocal.sagemaker.jobfile.job_file import JobFile, read_job
from smlocal.sagemaker.submit import submit


def create_training_job(serving: Serving, call: AwsCall) -> dict[str, Any]:
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
            raise validation_error(in_one_line(error)) from None
    serving.waiting_jobs.look()
    serving.submitted(name)
    return record


def _read(serving: Serving, call: AwsCall) -> JobFile:
    """The validated job. The folder for relative paths is the root: there is none that a client knows."""
    document = Document(dict(call.parameters), name="request", directory="/")
    limit_to_rights(serving, document, region=call.region)
    with refusals_answered():
        return read_job(document, strict=False)


@contextmanager
def refusals_answered() -> Iterator[None]:
    """Answer the errors of a block that reads a request, as the service does if smlocal knows its words."""
    try:
        yield
    except RequestInvalidError as error:
        raise validation_error(error.service_message or in_one_line(error)) from None
    except SmlocalError as error:
        raise validation_error(in_one_line(error)) from None


def in_one_line(error: SmlocalError) -> str:
    """The sentence with its details and remedies."""
    return "; ".join([error.with_details, *error.remedy])


def _without_data(serving: Serving, job: JobFile) -> Iterator[str]:
    """Channels whose bucket is a folder here that has no object with the prefix. The service refuses these."""
    for channel in job.request.InputDataConfig or ():
        source = channel.DataSource.S3DataSource
        found = None if source is None else bucket_of(serving, source.S3Uri)
        if source is not None and found is not None and not _any_object(*found):
            yield source.S3Uri


def _any_object(bucket: Bucket, prefix: str) -> bool:
    return any(not found.key.endswith("/") for found in walk(bucket, prefix=prefix))


# The code of a job that an SDK has uploaded fills /opt/ml/code.
# AWS's training toolkit fetches `sagemaker_submit_directory` and unpacks it there, unless that folder has code already.
# A job whose code is there begins without S3, even if the server has ended by then.

_PARAMETER = "sagemaker_submit_directory"
_ARCHIVE = ".tar.gz"
_MOST_FILES = 100_000
_LIMITS = ArchiveLimits(members=_MOST_FILES, content=4 << 30)
_KEPT_SECONDS = 3600.0
"""For a folder without a job: its job may be about to be recorded."""


@contextmanager
def submitted_code(serving: Serving, name: str, request: Mapping[str, Any]) -> Iterator[str | None]:
    """A folder with the code; None if the request names no archive in a bucket of this server.

    The folder stays if the block ends well, as long as the job is remembered.
    """
    archive = _archive(serving, request)
    if archive is None:
        yield None
        return
    with open(archive, "rb", buffering=0) as file:
        parent = os.path.join(serving.home, CODE)
        os.makedirs(parent, mode=0o700, exist_ok=True)
        _remove_unused(serving, parent)
        folder = tempfile.mkdtemp(prefix=f"{name}.", dir=parent)
        try:
            _unpack(file, folder)
        except BaseException:
            remove_tree(folder)
            raise
    try:
        yield folder
    except BaseException:
        remove_tree(folder)
        raise


def _archive(serving: Serving, request: Mapping[str, Any]) -> int | None:
    """The open object; None if there is none."""
    if request.get("EnableNetworkIsolation"):  # the toolkit cannot fetch it on the service
        return None
    given = (request.get("HyperParameters") or {}).get(_PARAMETER, "")
    with suppress(ValueError):
        given = json.loads(given)  # SDKs encode hyperparameters twice
    if not isinstance(given, str) or not given.endswith(_ARCHIVE):
        return None
    found = bucket_of(serving, given)
    if found is None:
        return None
    bucket, key = found
    try:
        return bucket.open(key)
    except S3CallError:
        return None


def _unpack(file: IO[bytes], folder: str) -> None:
    """Regular files and folders; `ServiceError` for an archive with anything else, a damaged one, or one too large."""
    try:
        unpack(ForeignArchive(pieces_of(file), _LIMITS), folder, most_paths=_MOST_FILES)
    except BeyondLimitError as error:
        raise validation_error(f"The code in {_PARAMETER} is too large: {error}.") from error
    except ArchiveError as error:
        raise validation_error(f"The code in {_PARAMETER} cannot be unpacked: {error}") from error
    except OSError as error:
        raise validation_error(f"The code in {_PARAMETER} cannot be unpacked: {error.strerror or error}") from error


def _remove_unused(serving: Serving, parent: str) -> None:
    """Those of jobs that were removed. No job's name has a dot."""
    jobs = set(serving.store.names())
    for entry in os.scandir(parent):
        with suppress(OSError):
            if entry.name.partition(".")[0] not in jobs and time.time() - entry.stat().st_mtime > _KEPT_SECONDS:
                remove_tree(entry.path)
