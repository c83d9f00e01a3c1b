"""What S3 is asked while objects are written, by botocore's client: it adds checksums and repeats what failed."""

import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol, Self

from smlocal.quick_dataclass import dataclass
from smlocal.sources.s3.error_responses import unanswered
from smlocal.sources.s3.interface import S3Error, S3Object
from smlocal.sources.s3.retry import FetchCancelledError, never, until_cancelled
from smlocal.sources.s3.upload_body import FilePart, UploadBody

_ABORTING = 10.0
_TRIES = 3
"""Of bytes that arrive as other bytes."""
_DAMAGED = {"BadDigest", "XAmzContentSHA256Mismatch"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """The object that is written."""

    bucket: str
    key: str
    kms_key: str | None = None
    """With which it is encrypted; else as the bucket does it."""

    @property
    def uri(self) -> str:
        """`s3://bucket/key`."""
        return f"s3://{self.bucket}/{self.key}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """A part that S3 has."""

    number: int
    etag: str
    size: int
    crc32: str = ""
    """Empty where the configuration says that no checksums are sent."""


class Requests(Protocol):
    """What is used of `S3Client`."""

    def call(
        self, operation: str, uri: str, request: Callable[[Any], dict[str, Any]], *, patient: bool = False
    ) -> dict[str, Any]:
        """Send a request by botocore's client, until there is an answer."""
        ...

    def head(self, bucket: str, key: str) -> S3Object:
        """Size and ETag of one object."""
        ...

    def until(self, cancelled: Callable[[], bool]) -> Self:
        """The same for a caller who may cancel."""
        ...


class S3Writer:
    """Use `S3Client.writer`; safe to use from many threads. Everything raises `S3Error`."""

    def __init__(self, client: Requests, cancelled: Callable[[], bool]) -> None:
        """A writer that has asked nothing yet; `cancelled` is that of the client."""
        self._client = client
        self._cancelled = cancelled

    def put(self, target: Target, part: FilePart, moved: Callable[[int], None]) -> None:
        """A small object in one go."""
        self._send(
            target,
            "PutObject",
            part,
            moved,
            lambda client, body: client.put_object(**_at(target), Body=body, **_encryption(target)),
        )

    def begin(self, target: Target) -> str:
        """Begin an object of many parts; returns what the others ask for."""

        def request(client: Any) -> dict[str, Any]:
            sums = {"ChecksumAlgorithm": "CRC32"} if _sends_sums(client) else {}
            answer: dict[str, Any] = client.create_multipart_upload(**_at(target), **sums, **_encryption(target))
            return answer

        return str(self._client.call("CreateMultipartUpload", target.uri, request)["UploadId"])

    def put_part(self, target: Target, upload: str, number: int, part: FilePart, moved: Callable[[int], None]) -> Part:
        """One part, in any order and at the same time as others."""
        given = {**_at(target), "UploadId": upload, "PartNumber": number}

        def request(client: Any, body: UploadBody) -> dict[str, Any]:
            sums = {"ChecksumAlgorithm": "CRC32"} if _sends_sums(client) else {}
            answer: dict[str, Any] = client.upload_part(**given, Body=body, **sums)
            return answer

        answer = self._send(target, "UploadPart", part, moved, request)
        return Part(number=number, etag=answer["ETag"], size=part.size, crc32=answer.get("ChecksumCRC32", ""))

    def complete(self, target: Target, upload: str, parts: Sequence[Part]) -> None:
        """Make the object visible, as a whole."""
        listed = [
            {"PartNumber": part.number, "ETag": part.etag, **({"ChecksumCRC32": part.crc32} if part.crc32 else {})}
            for part in parts
        ]
        try:
            self._client.call(
                "CompleteMultipartUpload",
                target.uri,
                lambda client: client.complete_multipart_upload(
                    **_at(target), UploadId=upload, MultipartUpload={"Parts": listed}
                ),
                patient=True,
            )
        except S3Error as error:
            # An answer may have been lost on the way, and there is nothing left to complete.
            if error.code != "NoSuchUpload" or not self._is_there(target, parts):
                raise

    def abort(self, target: Target, upload: str) -> None:
        """Take back what was begun, whether the caller has cancelled or not; tried for a few seconds only."""
        until = time.monotonic() + _ABORTING

        def abort() -> None:
            self._client.until(never).call(
                "AbortMultipartUpload",
                target.uri,
                lambda client: client.abort_multipart_upload(**_at(target), UploadId=upload),
            )

        try:
            until_cancelled(abort, lambda: time.monotonic() > until)
        except FetchCancelledError as error:
            raise unanswered(error, target.uri, "AbortMultipartUpload") from error
        except S3Error as error:
            if error.code != "NoSuchUpload":
                raise

    def delete(self, target: Target) -> None:
        """Delete an object; gone already is fine. A bucket with versions keeps the old ones."""
        try:
            self._client.call("DeleteObject", target.uri, lambda client: client.delete_object(**_at(target)))
        except S3Error as error:
            if error.code != "NoSuchKey":  # some servers say so
                raise

    def _send(
        self,
        target: Target,
        operation: str,
        part: FilePart,
        moved: Callable[[int], None],
        request: Callable[[Any, UploadBody], dict[str, Any]],
    ) -> dict[str, Any]:
        def attempt(client: Any) -> dict[str, Any]:
            body = UploadBody(part, moved, self._cancelled)
            try:
                return request(client, body)
            except BaseException as error:
                body.take_back()
                if body.failure is not None:
                    raise body.failure from error
                raise

        for left in reversed(range(_TRIES)):
            try:
                return self._client.call(operation, target.uri, attempt)
            except S3Error as error:
                if error.code not in _DAMAGED or not left:
                    raise
        raise AssertionError(target.uri)

    def _is_there(self, target: Target, parts: Sequence[Part]) -> bool:
        try:
            found = self._client.head(target.bucket, target.key)
        except S3Error:
            return False
        # Neither may be some older object's.
        return found.size == sum(part.size for part in parts) and (found.etag or "").strip('"') == _etag(parts)


def _at(target: Target) -> dict[str, str]:
    return {"Bucket": target.bucket, "Key": target.key}


def _sends_sums(client: Any) -> bool:
    """As the user has configured; S3 must hear at the start which checksums the parts have."""
    return str(client.meta.config.request_checksum_calculation).lower() != "when_required"


def _encryption(target: Target) -> dict[str, str]:
    if target.kms_key is None:
        return {}
    return {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": target.kms_key}


def _etag(parts: Sequence[Part]) -> str:
    """What S3 calls an object that was put together of these parts."""
    import hashlib

    try:
        sums = b"".join(bytes.fromhex(part.etag.strip('"')) for part in parts)
    except ValueError:
        return ""  # encrypted with keys of the customer's own, the parts have no MD5
    return f"{hashlib.md5(sums, usedforsecurity=False).hexdigest()}-{len(parts)}"
