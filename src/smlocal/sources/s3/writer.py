"""What S3 is asked while objects are written; what arrived is compared with what was sent."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from smlocal.quick_dataclass import dataclass
from smlocal.sources.s3.answers import document_of, unanswered
from smlocal.sources.s3.body import Body, Text, crc32_of
from smlocal.sources.s3.checksum import Checksum
from smlocal.sources.s3.claims import claim_of
from smlocal.sources.s3.connection import BrokenConnectionError
from smlocal.sources.s3.endpoint import quote
from smlocal.sources.s3.exchange import Exchange, Request
from smlocal.sources.s3.interface import S3Error
from smlocal.sources.s3.patience import Patience

_ABORT_PATIENCE = 10.0
_COMPLETE_SILENCE = 300.0
"""A server may put thousands of parts together before it says a word."""
_TRIES = 3
"""Of bytes that arrive as other bytes."""
_MOST_DOCUMENT = 1 << 20
_NOTHING = Text()


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
    crc32: str


class S3Writer:
    """Use `S3Client.writer`; safe to use from many threads. Everything raises `S3Error`."""

    def __init__(self, exchange: Exchange, *, patience: float, cancelled: Callable[[], bool], sums_sent: bool) -> None:
        """A writer that has asked nothing yet."""
        self._exchange = exchange
        self._signs_bodies = exchange.signs_bodies
        self._patience = patience
        self._cancelled = cancelled
        self._sums_sent = sums_sent

    def put(self, target: Target, body: Body, moved: Callable[[int], None]) -> None:
        """A small object in one go."""
        self._send(target, "PutObject", body, moved, _encryption(target))

    def begin(self, target: Target) -> str:
        """Begin an object of many parts; returns what the others ask for."""
        headers = {"x-amz-checksum-algorithm": "CRC32", "x-amz-checksum-type": "FULL_OBJECT"} if self._sums_sent else {}
        request = _request(
            target, "CreateMultipartUpload", "POST", query="uploads=", headers={**headers, **_encryption(target)}
        )
        return self._document(request, self._usual(), "UploadId")["UploadId"]

    def put_part(self, target: Target, upload: str, number: int, body: Body, moved: Callable[[int], None]) -> Part:
        """One part, in any order and at the same time as others."""
        query = f"partNumber={number}&uploadId={quote(upload, slash='%2F')}"
        etag, crc32 = self._send(target, "UploadPart", body, moved, {}, query=query)
        return Part(number=number, etag=etag, size=body.size, crc32=crc32)

    def complete(self, target: Target, upload: str, parts: Sequence[Part]) -> None:
        """Make the object visible, as a whole."""
        headers = {}
        if self._sums_sent:
            headers = {
                "x-amz-checksum-crc32": _joined(parts),
                "x-amz-checksum-type": "FULL_OBJECT",
                "x-amz-mp-object-size": str(sum(part.size for part in parts)),
            }
        request = _request(
            target,
            "CompleteMultipartUpload",
            "POST",
            query=f"uploadId={quote(upload, slash='%2F')}",
            headers={**headers, "content-type": "application/xml"},
            body=Text(_list_of(parts)),
        )
        patience = Patience(self._patience, self._cancelled, silence=_COMPLETE_SILENCE)
        try:
            self._document(request, patience, "ETag")
        except S3Error as error:
            # An answer may have been lost on the way, and there is nothing left to complete.
            if error.code != "NoSuchUpload" or not self._is_there(target, parts):
                raise

    def abort(self, target: Target, upload: str) -> None:
        """Take back what was begun, whoever has lost interest."""
        query = f"uploadId={quote(upload, slash='%2F')}"
        request = _request(target, "AbortMultipartUpload", "DELETE", query=query, body=None)
        try:
            self._exchange.give_back(self._exchange.send(request, Patience(_ABORT_PATIENCE, lambda: False)))
        except S3Error as error:
            if error.code != "NoSuchUpload":
                raise

    def delete(self, target: Target) -> None:
        """Delete an object; gone already is fine. A bucket with versions keeps the old ones."""
        request = _request(target, "DeleteObject", "DELETE", body=None)
        try:
            self._exchange.give_back(self._exchange.send(request, self._usual()))
        except S3Error as error:
            if error.code != "NoSuchKey":  # some servers say so
                raise

    def _usual(self) -> Patience:
        return Patience(self._patience, self._cancelled)

    def _send(
        self,
        target: Target,
        operation: str,
        body: Body,
        moved: Callable[[int], None],
        headers: dict[str, str],
        *,
        query: str = "",
    ) -> tuple[str, str]:
        """Send bytes until S3 has the same; returns their ETag and CRC32."""
        crc32 = ""
        if self._sums_sent:
            crc32 = crc32_of(body)
            headers = {**headers, "x-amz-checksum-crc32": crc32, "x-amz-sdk-checksum-algorithm": "CRC32"}
        request = _request(target, operation, "PUT", query=query, headers=headers, body=body, moved=moved)
        for left in reversed(range(_TRIES)):
            with _unless_damaged(again=left > 0):
                answer = self._exchange.send(request, self._usual())
                self._exchange.give_back(answer)
                if not _has_arrived(body, answer.headers, crc32, signed=self._signs_bodies):
                    moved(-body.size)
                    words = "The bytes that S3 has are not those that were sent"
                    raise S3Error("BadDigest", words, status=answer.status, uri=target.uri, operation=operation)
                return answer.headers.get("etag", ""), crc32
        raise AssertionError(target.uri)

    def _document(self, request: Request, patience: Patience, wanted: str) -> dict[str, str]:
        """The texts of the answer's document; some errors come with a good status."""
        while True:
            answer = self._exchange.send(request, patience)
            try:
                return document_of(answer.connection.read(_MOST_DOCUMENT), wanted, request.uri, request.operation)
            except (BrokenConnectionError, ValueError) as error:
                answer.connection.close()
                patience.pause(unanswered(error, request.uri, request.operation))
            except S3Error as error:
                if error.code not in {"InternalError", "SlowDown", "ServiceUnavailable"}:
                    raise
                patience.pause(error)
            finally:
                self._exchange.give_back(answer)

    def _is_there(self, target: Target, parts: Sequence[Part]) -> bool:
        request = _request(target, "HeadObject", "HEAD", body=None)
        try:
            answer = self._exchange.send(request, self._usual())
        except S3Error:
            return False
        self._exchange.give_back(answer)
        # Neither may be some older object's.
        same_size = answer.headers.get("content-length") == str(sum(part.size for part in parts))
        return same_size and answer.headers.get("etag", "").strip('"') == _etag(parts)


def _request(
    target: Target,
    operation: str,
    method: str,
    *,
    query: str = "",
    headers: dict[str, str] | None = None,
    body: Body | None = _NOTHING,
    moved: Callable[[int], None] = lambda _: None,
) -> Request:
    return Request(
        operation=operation,
        method=method,
        bucket=target.bucket,
        key=target.key,
        query=query,
        headers=headers or {},
        uri=target.uri,
        body=body,
        moved=moved,
    )


def _encryption(target: Target) -> dict[str, str]:
    if target.kms_key is None:
        return {}
    return {
        "x-amz-server-side-encryption": "aws:kms",
        "x-amz-server-side-encryption-aws-kms-key-id": target.kms_key,
    }


@contextmanager
def _unless_damaged(*, again: bool) -> Iterator[None]:
    try:
        yield
    except S3Error as error:
        if error.code not in {"BadDigest", "XAmzContentSHA256Mismatch"} or not again:
            raise


def _has_arrived(body: Body, headers: Mapping[str, str], crc32: str, *, signed: bool) -> bool:
    """Compare with what S3 says it has: the checksum that was sent along, or an ETag that is an MD5.

    The latter costs ten times as much, and nothing is gained where the signature holds a sum of the body already.
    """
    said = headers.get("x-amz-checksum-crc32", "")
    if said and crc32:
        return said == crc32
    claim = claim_of(headers, etag=True)
    if claim is not None and not claim.parts and not signed:
        check = Checksum(claim)
        for piece in body.pieces():
            check.update(piece)
        return check.matches
    return True


def _joined(parts: Sequence[Part]) -> str:
    """The CRC32 of all parts one after another."""
    import base64

    from isal.isal_zlib import crc32_combine

    value = 0
    for part in parts:
        value = crc32_combine(value, int.from_bytes(base64.b64decode(part.crc32), "big"), part.size)
    return base64.b64encode(value.to_bytes(4, "big")).decode()


def _etag(parts: Sequence[Part]) -> str:
    """What S3 calls an object that was put together of these parts."""
    import hashlib

    try:
        sums = b"".join(bytes.fromhex(part.etag.strip('"')) for part in parts)
    except ValueError:
        return ""  # encrypted with keys of the customer's own, the parts have no MD5
    return f"{hashlib.md5(sums, usedforsecurity=False).hexdigest()}-{len(parts)}"


def _list_of(parts: Sequence[Part]) -> bytes:
    from xml.sax.saxutils import escape

    entries = (
        f"<Part><PartNumber>{part.number}</PartNumber><ETag>{escape(part.etag)}</ETag>"
        f"{f'<ChecksumCRC32>{part.crc32}</ChecksumCRC32>' if part.crc32 else ''}</Part>"
        for part in parts
    )
    name_space = "http://s3.amazonaws.com/doc/2006-03-01/"
    return f'<CompleteMultipartUpload xmlns="{name_space}">{"".join(entries)}</CompleteMultipartUpload>'.encode()
