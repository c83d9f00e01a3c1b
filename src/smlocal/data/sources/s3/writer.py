"""The requests that write objects, sent by botocore's client, which adds checksums and retries."""

import base64
import hashlib
import time
from collections.abc import Callable, Sequence
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.data.sources.s3.client import S3Client
from smlocal.data.sources.s3.error_responses import FetchCancelledError, never, no_response, until_cancelled
from smlocal.data.sources.s3.interface import S3Error
from smlocal.data.sources.s3.upload_body import FilePart, UploadBody

_ABORT_SECONDS = 10.0
_TRIES = 3
"""Attempts to send bytes that S3 received damaged."""
_DAMAGED = {"BadDigest", "XAmzContentSHA256Mismatch"}


@dataclass(frozen=True, kw_only=True, slots=True)
class UploadTarget:
    """The object that is written."""

    bucket: str
    key: str
    kms_key: str | None = None
    """The KMS key to encrypt with; None for the bucket's default encryption."""

    @property
    def uri(self) -> str:
        """`s3://bucket/key`."""
        return f"s3://{self.bucket}/{self.key}"


@dataclass(frozen=True, kw_only=True, slots=True)
class UploadedPart:
    """A part that S3 has."""

    number: int
    etag: str
    size: int
    crc32: str = ""
    """Empty if checksums are turned off in the AWS configuration."""


class S3Writer:
    """Safe to use from many threads. All methods raise `S3Error`."""

    def __init__(self, client: S3Client) -> None:
        """Requests are cancelled as the client is."""
        self._client = client

    def put(
        self, target: UploadTarget, part: FilePart, moved: Callable[[int], None], *, sha256: bytes | None = None
    ) -> None:
        """Write a small object in one request. S3 refuses bytes that do not have this SHA-256."""
        sums = {} if sha256 is None else {"ChecksumSHA256": base64.b64encode(sha256).decode()}
        self._send(
            target,
            "PutObject",
            part,
            moved,
            lambda client, body: client.put_object(**_at(target), Body=body, **sums, **_encryption(target)),
        )

    def begin(self, target: UploadTarget) -> str:
        """Begin a multipart upload; returns its id."""

        def request(client: Any) -> dict[str, Any]:
            sums = {"ChecksumAlgorithm": "CRC32"} if _sends_checksums(client) else {}
            answer: dict[str, Any] = client.create_multipart_upload(**_at(target), **sums, **_encryption(target))
            return answer

        return str(self._client.call("CreateMultipartUpload", target.uri, request)["UploadId"])

    def put_part(
        self, target: UploadTarget, upload: str, number: int, part: FilePart, moved: Callable[[int], None]
    ) -> UploadedPart:
        """Send one part; parts may be sent in any order and in parallel."""
        given = {**_at(target), "UploadId": upload, "PartNumber": number}

        def request(client: Any, body: UploadBody) -> dict[str, Any]:
            sums = {"ChecksumAlgorithm": "CRC32"} if _sends_checksums(client) else {}
            answer: dict[str, Any] = client.upload_part(**given, Body=body, **sums)
            return answer

        answer = self._send(target, "UploadPart", part, moved, request)
        return UploadedPart(number=number, etag=answer["ETag"], size=part.size, crc32=answer.get("ChecksumCRC32", ""))

    def complete(self, target: UploadTarget, upload: str, parts: Sequence[UploadedPart]) -> None:
        """Complete the upload: the object becomes visible."""
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
                slow=True,
            )
        except S3Error as error:
            # An earlier attempt may have succeeded, and its answer been lost.
            if error.code != "NoSuchUpload" or not self._is_there(target, parts):
                raise

    def abort(self, target: UploadTarget, upload: str) -> None:
        """Abort a multipart upload, even after the caller has cancelled; tried for a few seconds only."""
        until = time.monotonic() + _ABORT_SECONDS

        def abort() -> None:
            self._client.until(never).call(
                "AbortMultipartUpload",
                target.uri,
                lambda client: client.abort_multipart_upload(**_at(target), UploadId=upload),
            )

        try:
            until_cancelled(abort, lambda: time.monotonic() > until)
        except FetchCancelledError as error:
            raise no_response(error, target.uri, "AbortMultipartUpload") from error
        except S3Error as error:
            if error.code != "NoSuchUpload":
                raise

    def delete(self, target: UploadTarget) -> None:
        """Delete an object, which need not exist. A bucket with versions keeps the old ones."""
        try:
            self._client.call("DeleteObject", target.uri, lambda client: client.delete_object(**_at(target)))
        except S3Error as error:
            if error.code != "NoSuchKey":  # some servers answer this
                raise

    def _send(
        self,
        target: UploadTarget,
        operation: str,
        part: FilePart,
        moved: Callable[[int], None],
        request: Callable[[Any, UploadBody], dict[str, Any]],
    ) -> dict[str, Any]:
        def attempt(client: Any) -> dict[str, Any]:
            body = UploadBody(part, moved, self._client.cancelled)
            try:
                return request(client, body)
            except BaseException as error:
                body.reset()
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

    def _is_there(self, target: UploadTarget, parts: Sequence[UploadedPart]) -> bool:
        try:
            found = self._client.head(target.bucket, target.key)
        except S3Error:
            return False
        # An older object could have the same size, but not the same ETag.
        return found.size == sum(part.size for part in parts) and (found.etag or "").strip('"') == _etag(parts)


def _at(target: UploadTarget) -> dict[str, str]:
    return {"Bucket": target.bucket, "Key": target.key}


def _sends_checksums(client: Any) -> bool:
    """As the user has configured; S3 must know when the upload begins which checksums its parts have."""
    return str(client.meta.config.request_checksum_calculation).lower() != "when_required"


def _encryption(target: UploadTarget) -> dict[str, str]:
    if target.kms_key is None:
        return {}
    return {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": target.kms_key}


def _etag(parts: Sequence[UploadedPart]) -> str:
    """The ETag of an object made of these parts."""
    try:
        sums = b"".join(bytes.fromhex(part.etag.strip('"')) for part in parts)
    except ValueError:
        return ""  # with the customer's own keys the ETags of parts are not MD5s
    return f"{hashlib.md5(sums, usedforsecurity=False).hexdigest()}-{len(parts)}"
