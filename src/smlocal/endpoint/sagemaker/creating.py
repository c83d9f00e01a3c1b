"""The requests of training jobs: their data, and code that an SDK has uploaded."""

import json
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import IO, Any

from smlocal.base.files import remove_tree
from smlocal.base.foreign_archive.archive import ArchiveLimits, ForeignArchive, unpack
from smlocal.base.foreign_archive.stream import ArchiveError, BeyondLimitError, pieces_of
from smlocal.endpoint.call import AwsCall, validation_error
from smlocal.endpoint.objects.bucket_folder import Bucket
from smlocal.endpoint.objects.listing import walk
from smlocal.endpoint.objects.s3_documents import S3CallError
from smlocal.endpoint.sagemaker.job_operations import refusals_answered, request_document
from smlocal.endpoint.sagemaker.request_folders import bucket_of, no_objects
from smlocal.endpoint.serving import CODE, Serving
from smlocal.jobfile.option import LOCAL
from smlocal.sagemaker.jobfile.job_file import JobFile, read_job


def read_request(serving: Serving, call: AwsCall, stack: ExitStack) -> JobFile:
    """The validated job, with its code."""
    document = request_document(serving, call)
    with refusals_answered():
        job = read_job(document, strict=False)
    name = job.request.TrainingJobName
    return job if name is None else with_data(serving, job, stack, name=name, region=call.region)


def with_data(serving: Serving, job: JobFile, stack: ExitStack, *, name: str, region: str) -> JobFile:
    """A job whose document was limited to the rights of clients, with the code that it names.

    `ServiceError` if one of its channels has no objects. `stack` removes the code if the job is not recorded.
    """
    missing = next(_without_data(serving, job), None)
    if missing is not None:
        raise no_objects(missing, region=region, role=job.raw.get("RoleArn", ""))
    code = stack.enter_context(submitted_code(serving, name, job.raw))
    if code is None or job.local.Code is not None:
        return job
    job.document.data[LOCAL]["Code"] = code
    return read_job(job.document, strict=False)


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
