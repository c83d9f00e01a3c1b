"""The artifacts of a job of the service, read from S3 as they come. Nothing is kept."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from smlocal.contract.s3_uri import bucket_name, split_s3_uri
from smlocal.errors import ServiceRefusedError
from smlocal.remote.compare.archives import Archive, File, read_stream
from smlocal.remote.compare.subject import NAMES

if TYPE_CHECKING:
    from smlocal.remote.service import Service

_ABSENT = {"NoSuchKey", "404", "NotFound"}


def archives_in_s3(service: "Service", answer: Mapping[str, Any]) -> dict[str, Archive | None]:
    """`model.tar.gz` and `output.tar.gz`, or what lies in the folders in place of them."""
    model = str((answer.get("ModelArtifacts") or {}).get("S3ModelArtifacts") or "")
    if not model.startswith("s3://"):
        return dict.fromkeys(NAMES)
    if not model.endswith(".tar.gz"):
        folder = model.rstrip("/").rpartition("/")[0]
        return {name: _folder(service, f"{folder}/{name.partition('.')[0]}/") for name in NAMES}
    folder = model.rpartition("/")[0]
    return {name: _archive(service, f"{folder}/{name}") for name in NAMES}


def _archive(service: "Service", uri: str) -> Archive | None:
    bucket, key = _place(uri)
    try:
        answer = service.call("s3", "GetObject", Bucket=bucket, Key=key)
    except ServiceRefusedError as error:
        if error.code in _ABSENT:
            return None
        raise
    from botocore.exceptions import BotoCoreError

    size = answer["ContentLength"]
    try:
        with answer["Body"] as body:
            return read_stream(body, place=uri, size=size)
    except BotoCoreError as error:  # the connection broke
        return Archive(place=uri, size=size, files=None, trouble=f"it cannot be read: {error}")


def _folder(service: "Service", uri: str) -> Archive | None:
    """Names and sizes: the digests of S3 are of another kind."""
    bucket, prefix = _place(uri)
    files = {
        each["Key"][len(prefix) :]: File(size=each["Size"], digest=None)
        for page in service.pages("s3", "ListObjectsV2", Bucket=bucket, Prefix=prefix)
        for each in page.get("Contents") or ()
    }
    return Archive(place=uri, size=None, files=files) if files else None


def _place(uri: str) -> tuple[str, str]:
    bucket_uri, key = split_s3_uri(uri)
    return bucket_name(bucket_uri), key
