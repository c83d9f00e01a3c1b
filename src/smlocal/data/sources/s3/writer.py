"""The requests that write objects, sent by botocore's client, and their bodies: parts of a file that may still grow."""

import base64
import hashlib
import os
import sys
import time
from collections.abc import Callable, Sequence
from threading import Condition
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.data.sources.s3.client import S3Client
from smlocal.data.sources.s3.error_responses import TICK, FetchCancelledError, never, no_response, until_cancelled
from smlocal.data.sources.s3.interface import S3Error


@dataclass(frozen=True, kw_only=True, slots=True)
class FilePart:
    """A part of an open file; the caller keeps and closes the descriptor."""

    descriptor: int
    start: int
    size: int
    uri: str
    """For errors."""


class UnreadableBodyError(BaseException):
    """Stops a request before or while its body is sent. Not an `Exception`, which botocore takes for a broken line.

    The reason is in `UploadBody.failure`.
    """


class UploadBody:
    """A file-like object for botocore; memory holds one piece of the part at a time.

    botocore reads a body for its checksum and signature before it sends it, and again for every attempt: only bytes
    that are read while a request is sent count as moved. Until then a body that cannot be read seems to end, because
    awscrt signs in a thread of its own and prints errors that are raised there. It is raised when the request is about
    to be sent.
    """

    def __init__(self, part: FilePart, moved: Callable[[int], None], cancelled: Callable[[], bool]) -> None:
        """`moved` is told how many bytes were sent; a negative number if they must be sent again."""
        self._part = part
        self._moved, self._cancelled = moved, cancelled
        self._at = self._reported = 0
        self._sending = False
        self.failure: Exception | None = None
        """Why it could not be read; raised to the caller of the request."""

    def __len__(self) -> int:
        """The Content-Length."""
        return self._part.size

    def __bool__(self) -> bool:
        """An empty body counts as a body."""
        return True

    def read(self, count: int = -1) -> bytes:
        """Read the next bytes."""
        if self._cancelled():
            self.failure = FetchCancelledError()
        if self.failure is not None:
            return self._stop()
        part = self._part
        left = part.size - self._at
        wanted = left if count < 0 else min(count, left)
        if not wanted:
            return b""
        try:
            data = os.pread(part.descriptor, wanted, part.start + self._at)
        except OSError as error:
            return self._fail(str(error.strerror))
        if not data:
            return self._fail("it has become shorter")
        self._at += len(data)
        if self._sending:
            self._report()
        return data

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move, mostly back to the start."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._part.size}[whence]
        self._at = base + offset
        if self._sending:
            self._report()
        return self._at

    def tell(self) -> int:
        """The current position."""
        return self._at

    def signal_transferring(self) -> None:
        """Bytes that are read from now on are sent. Not if it could not be read before."""
        self._sending = True
        if self.failure is not None:
            self._stop()

    def signal_not_transferring(self) -> None:
        """Bytes that are read from now on are not sent."""
        self._sending = False

    def reset(self) -> None:
        """The request has failed: count nothing as sent."""
        self._sending = False
        self._moved(-self._reported)
        self._reported = 0

    def _report(self) -> None:
        if self._at != self._reported:
            self._moved(self._at - self._reported)
            self._reported = self._at

    def _stop(self) -> bytes:
        """End the body, or the request once it is being sent."""
        if self._sending:
            raise UnreadableBodyError
        return b""

    def _fail(self, why: str) -> bytes:
        text = f"The file cannot be read while it is uploaded: {why}"
        self.failure = S3Error("IncompleteBody", text, status=400, uri=self._part.uri, operation="PutObject")
        return self._stop()


# A file that one thread writes while others upload the written part.


class GrowingFile:
    """Open for reading, even after it was renamed; closed by the uploader."""

    def __init__(self, descriptor: int, *, most: int) -> None:
        """Start empty; `most` is the expected largest size."""
        self.descriptor = descriptor
        self.most = most
        self._size = 0
        self._ended = self._given_up = False
        self._changed = Condition()

    @classmethod
    def complete(cls, descriptor: int) -> "GrowingFile":
        """A file that is complete."""
        size = os.fstat(descriptor).st_size
        found = cls(descriptor, most=size)
        found.grow(size)
        found.end()
        return found

    def grow(self, size: int) -> None:
        """The first `size` bytes can be read now."""
        with self._changed:
            self._size = size
            self._changed.notify_all()

    def end(self) -> None:
        """The file is complete: the object may become visible."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def give_up(self) -> None:
        """The file will never be complete."""
        with self._changed:
            self._given_up = True
            self._changed.notify_all()

    def wait(self, size: int, cancelled: Callable[[], bool]) -> int:
        """Wait for `size` bytes or the end; returns the number of bytes. `FetchCancelledError` if it was given up."""
        with self._changed:
            while not self._given_up and self._size < size and not self._ended:
                if cancelled():
                    raise FetchCancelledError
                self._changed.wait(TICK)
            if self._given_up or cancelled():
                raise FetchCancelledError
            return self._size

    def wait_for_end(self, cancelled: Callable[[], bool]) -> int:
        """Wait until the file is complete; returns its size."""
        return self.wait(sys.maxsize, cancelled)

    def close(self) -> None:
        """Close the descriptor."""
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


# The sizes of the parts of an upload: S3 takes 10,000 parts, and the size of an archive is not known in advance.

PART = 16 << 20
"""Smaller objects are sent in one request."""
MOST_PARTS = 10_000

_EQUAL_PARTS = MOST_PARTS // 2
_PARTS_PER_DOUBLING = 1000
_LARGEST = 5 << 30
_ROUNDING = 1 << 20


def first_part(most: int) -> int:
    """The size of the first parts of an object that is expected to have at most `most` bytes."""
    least = -(-most // _EQUAL_PARTS)
    return min(_LARGEST, max(PART, -(-least // _ROUNDING) * _ROUNDING))


def part_size(number: int, first: int) -> int:
    """The size of a part, counted from 1: equal for the first half, then doubled again and again."""
    doubled = 0 if number <= _EQUAL_PARTS else (number - _EQUAL_PARTS - 1) // _PARTS_PER_DOUBLING + 1
    return min(_LARGEST, first << doubled)


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
