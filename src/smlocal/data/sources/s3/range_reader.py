"""GetObject, and ranges of an object read piece by piece; after a broken connection they continue where it broke."""

import base64
import binascii
from collections.abc import Callable, Mapping

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.exceptions import BotoCoreError, ClientError
from botocore.utils import percent_encode
from urllib3.exceptions import HTTPError

from smlocal.base.quick_dataclass import dataclass
from smlocal.data.sources.s3.aws_client import AwsClient, BucketTarget
from smlocal.data.sources.s3.error_responses import Retry, error_of, is_redirect, no_response, object_changed, s3_error
from smlocal.data.sources.s3.interface import CRC_BYTES, Checksum, S3Error, S3Object, StoredChecksum, crc_function

CHECKSUM_MODE = {"x-amz-checksum-mode": "ENABLED"}
"""The request header with which S3 sends the checksum of a whole object."""

_BYTES = {**CRC_BYTES, "sha256": 32, "sha1": 20, "sha512": 64, "md5": 16}
"""The checksums of S3 that can be computed here, the fastest first, with their lengths."""
_OWN_KEYS = ("x-amz-server-side-encryption-customer-algorithm", "x-amz-server-side-encryption-aws-kms-key-id")
"""With these the ETag is not an MD5 of the object's bytes."""
_REFUSALS = range(400, 500)
_NOT_IMPLEMENTED = 501


def expected_checksum(
    size: int,
    headers: Mapping[str, str] | None,
    *,
    head: Callable[[], Mapping[str, str]],
    head_of_part: Callable[[int], Mapping[str, str]],
    exactly: bool,
    needs_awscrt: Callable[[str], None],
) -> Checksum:
    """The checksum for the bytes of an object; `headers` are those of an answer with all of it, if there is one.

    `exactly` also asks for the length of each part, instead of assuming that all are as long as the first.
    `needs_awscrt` is told the kind of a checksum that cannot be computed without awscrt, if there is no other.
    """
    stored = stored_checksum(headers, etag=True) if headers is not None else None
    if stored is None and (headers is None or "content-range" in headers):
        # S3 sends no checksum with a range, even of all bytes. An MD5 in the ETag is not used then: for 1 GiB it takes
        # 1.9 s, more than twice as long as the download.
        headers = head()
        stored = stored_checksum(headers, etag=False)
    if stored is None:
        for kind in CRC_BYTES:
            if f"x-amz-checksum-{kind}" in (headers or {}) and crc_function(kind) is None:
                needs_awscrt(kind)
                break
        return Checksum(None)
    if not stored.parts:
        return Checksum(stored)
    lengths = part_lengths(head_of_part, size, stored.parts, exactly=exactly)
    return Checksum(stored if lengths else None, lengths or ())


def stored_checksum(headers: Mapping[str, str], *, etag: bool) -> StoredChecksum | None:
    """The checksum in the headers of a whole object; with `etag` also an MD5 in the ETag."""
    for kind in _BYTES:
        if kind in CRC_BYTES and crc_function(kind) is None:
            continue
        text = headers.get(f"x-amz-checksum-{kind}")
        if text and (found := _parsed(kind, text, headers)):
            return found
    md5 = headers.get("etag", "").strip('"').lower()
    is_md5 = len(md5) == 2 * _BYTES["md5"] and not set(md5) - set("0123456789abcdef")
    if etag and is_md5 and not any(name in headers for name in _OWN_KEYS):
        return StoredChecksum(kind="md5", value=bytes.fromhex(md5))
    return None


def _parsed(kind: str, text: str, headers: Mapping[str, str]) -> StoredChecksum | None:
    encoded, _, count = text.partition("-")
    try:
        value = base64.b64decode(encoded, validate=True)
    except binascii.Error:
        return None
    if len(value) != _BYTES[kind]:
        return None
    parts_of_etag = headers.get("etag", "").strip('"').partition("-")[2]
    given_type = headers.get("x-amz-checksum-type", "COMPOSITE" if count else "")
    if given_type == "COMPOSITE":
        count = count or parts_of_etag
        return StoredChecksum(kind=kind, value=value, parts=int(count)) if count.isdecimal() and int(count) else None
    # Without a type, the checksum of an object of several parts may be either.
    return StoredChecksum(kind=kind, value=value) if given_type == "FULL_OBJECT" or not parts_of_etag else None


def part_lengths(
    head: Callable[[int], Mapping[str, str]], size: int, count: int, *, exactly: bool
) -> tuple[int, ...] | None:
    """The lengths of an object's parts; None where the server does not say.

    `head` asks about one part. Nearly always all but the last are as long as the first; `exactly` asks for each.
    """
    if count == 1:
        return (size,)
    try:
        first = _length(head(1), count)
        if first and not exactly and (count - 1) * first < size <= count * first:
            return *(first for _ in range(count - 1)), size - (count - 1) * first
        lengths = (first, *(_length(head(number), count) for number in range(2, count + 1))) if first else ()
    except S3Error as error:
        if error.status in _REFUSALS or error.status == _NOT_IMPLEMENTED:
            return None  # an object that is gone is reported where it is read
        raise
    return lengths if sum(lengths) == size else None


def _length(headers: Mapping[str, str], count: int) -> int:
    """The length of a part; 0 if the answer is about something else."""
    length = headers.get("content-length", "")
    return int(length) if length.isdecimal() and headers.get("x-amz-mp-parts-count") == str(count) else 0


_SKIP_PIECE = 256 << 10
_BAD_RANGE = 416


# GetObject: signed with botocore's signer, read by urllib3 (architecture.md has the figures).

_USER_AGENT = "smlocal"
_SUCCESS = {200, 206}
_ERROR_BYTES = 1 << 20
_PIECE = 256 << 10
_OPERATION = "GetObject"
_ARGUMENTS = {"range": "Range", "if-match": "IfMatch", "x-amz-checksum-mode": "ChecksumMode"}


class BrokenBodyError(Exception):
    """The connection broke or timed out within the body."""


class ObjectBody:
    """A successful answer to GetObject, whose body is read piece by piece; for one thread."""

    def __init__(
        self, read: Callable[[int], bytes], close: Callable[[], None], status: int, headers: Mapping[str, str]
    ) -> None:
        """`close` closes a connection whose body was not read to its end; others are reused."""
        self._read, self.close = read, close
        self.status = status
        self.headers = {name.lower(): value for name, value in headers.items()}

    def read_into(self, buffer: memoryview) -> int:
        """Read some of the body; 0 at its end."""
        if not buffer:
            return 0
        try:
            data = self._read(min(len(buffer), _PIECE))
        except (HTTPError, BotoCoreError, OSError) as error:
            raise BrokenBodyError(str(error)) from error
        buffer[: len(data)] = data
        return len(data)


def get_object(aws: AwsClient, wanted: S3Object, headers: Mapping[str, str]) -> ObjectBody:
    """Request an object or a range of it, once; raises `S3Error`. The names of `headers` are in lower case."""
    try:
        target = aws.target(wanted.bucket)
        if target is None:
            return _by_client(aws, wanted, headers)
        try:
            return _signed(aws, target, wanted, headers)
        except S3Error as error:
            if not is_redirect(error):
                raise
            # The client follows the redirect, and from then on resolves the bucket to its region.
            aws.forget_target(wanted.bucket)
            return _by_client(aws, wanted, headers)
    except (BotoCoreError, ClientError) as error:
        raise s3_error(error, wanted.uri, _OPERATION) from error


def _signed(aws: AwsClient, target: BucketTarget, wanted: S3Object, headers: Mapping[str, str]) -> ObjectBody:
    if aws.payer:
        headers = {**headers, "x-amz-request-payer": aws.payer}
    url = f"{target.url}{percent_encode(wanted.key, safe='-._~/')}"
    request = AWSRequest("GET", url, headers=headers, stream_output=True)
    request.headers["user-agent"] = _USER_AGENT
    S3SigV4Auth(aws.keys(), target.service, target.region).add_auth(request)
    answer = aws.http.send(request.prepare())
    raw = answer.raw
    if answer.status_code not in _SUCCESS:
        try:
            document = raw.read(_ERROR_BYTES)
        except (HTTPError, OSError) as error:
            raise no_response(error, wanted.uri, _OPERATION) from error
        finally:
            raw.close()
        raise error_of(answer.status_code, document, wanted.uri, _OPERATION)
    return ObjectBody(
        lambda count: raw.read(count, decode_content=False), raw.close, answer.status_code, answer.headers
    )


def _by_client(aws: AwsClient, wanted: S3Object, headers: Mapping[str, str]) -> ObjectBody:
    """Slower, but for every signature and region that botocore knows."""
    arguments = {_ARGUMENTS[name]: value for name, value in headers.items()}
    answer = aws.client.get_object(Bucket=wanted.bucket, Key=wanted.key, **arguments)
    meta, body = answer["ResponseMetadata"], answer["Body"]
    return ObjectBody(body.read, body.close, meta["HTTPStatusCode"], meta["HTTPHeaders"])


class RangeReader:
    """Made by `S3Client.open_range`, closed by its caller; for one thread."""

    def __init__(
        self,
        get: Callable[[S3Object, Mapping[str, str], Retry], ObjectBody],
        retry: Retry,
        wanted: S3Object,
        start: int,
        length: int | None,
    ) -> None:
        """Send no request yet; `length` None means to the end. `get` requests an object until there is an answer."""
        self.object = wanted
        """The object; its size and ETag are known after the first read."""
        self.headers: dict[str, str] = {}
        """Headers of an answer with the whole object, maybe with its checksum; empty for a part."""
        self._get = get
        self._retry = retry
        self._at = start
        self._end = None if length is None else start + length
        self._limit_to_object()
        self._answer: ObjectBody | None = None
        self._ended = False

    def fill(self, buffer: memoryview) -> int:
        """Read until the buffer is full or the range ends; return the number of bytes."""
        count = 0
        while count < len(buffer) and (more := self.readinto(buffer[count:])):
            count += more
        return count

    def readinto(self, buffer: memoryview) -> int:
        """Read some bytes; 0 at the end of the range or object. The first call always sends a request."""
        self._retry.restart()
        while not self._ended:
            try:
                count = self._some(buffer)
            except BrokenBodyError as error:
                self.close()
                self._retry.pause(no_response(error, self.object.uri, "GetObject"))
            else:
                if self._at == self._end or (buffer and not count):
                    self._ended = True
                    self.close()
                return count
        return 0

    def close(self) -> None:
        """Release the connection; it is closed if its body was not read to the end."""
        answer, self._answer = self._answer, None
        if answer is not None:
            answer.close()

    def _some(self, buffer: memoryview) -> int:
        answer = self._answer or self._open()
        if answer is None or self._at == self._end:
            return 0
        self._retry.check()
        left = len(buffer) if self._end is None else self._end - self._at
        count = answer.read_into(buffer[:left])
        if buffer and not count and self._end is not None:
            raise BrokenBodyError("the body was cut short")
        self._at += count
        return count

    def _limit_to_object(self) -> None:
        """Let the range end at the object's end."""
        if self.object.size is not None:
            end = self.object.size if self._end is None else min(self._end, self.object.size)
            self._end = max(end, self._at)

    def _open(self) -> ObjectBody | None:
        """Request the rest of the range; None if the object ends before it."""
        size = self.object.size
        if self._at and size is not None and self._at >= size:
            return None
        headers = dict(CHECKSUM_MODE)
        # A request for the whole object has no range header: only then does S3 send the checksum.
        if self._at or self._end != size:
            headers["range"] = f"bytes={self._at}-{'' if self._end is None else self._end - 1}"
        if self.object.etag:
            headers["if-match"] = self.object.etag
        try:
            answer = self._get(self.object, headers, self._retry)
        except S3Error as error:
            if error.status != _BAD_RANGE or "range" not in headers:
                raise
            if self._at:
                return None
            # An empty object has no valid range.
            del headers["range"]
            answer = self._get(self.object, headers, self._retry)
        self._answer = answer
        self._check(answer)
        return answer

    def _check(self, answer: ObjectBody) -> None:
        """Check that this is the requested range; some servers ignore If-Match, and some the range."""
        known, etag = self.object, answer.headers.get("etag")
        extent = _extent_of(answer.status, answer.headers)
        if known.etag and etag and known.etag.strip('"') != etag.strip('"'):
            raise object_changed(known.uri)
        if known.size is not None and extent.size is not None and known.size != extent.size:
            raise object_changed(known.uri)
        self.object = known._replace(size=extent.size if known.size is None else known.size, etag=known.etag or etag)
        self._limit_to_object()
        if extent.start == self._at == 0 and self._end == self.object.size:
            self.headers = answer.headers
        if extent.start > self._at:
            text = f"S3 sent the bytes from {extent.start} on, but those from {self._at} on were requested"
            raise S3Error("InvalidRange", text, status=answer.status, uri=known.uri, operation="GetObject")
        _skip(answer, self._at - extent.start)


def _skip(answer: ObjectBody, count: int) -> None:
    piece = memoryview(bytearray(min(count, _SKIP_PIECE)))
    while count:
        skipped = answer.read_into(piece[:count])
        if not skipped:
            raise BrokenBodyError("the body was cut short")
        count -= skipped


@dataclass(frozen=True, kw_only=True, slots=True)
class _Extent:
    """Which bytes of an object a response has."""

    start: int
    size: int | None
    """The size of the whole object, if the response says so."""


def _extent_of(status: int, headers: Mapping[str, str]) -> _Extent:
    """Where the body begins. Some servers answer a range with status 200, and send the range or the whole object."""
    unit, _, rest = headers.get("content-range", "").partition(" ")
    if unit == "bytes":
        span, _, size = rest.partition("/")
        first = span.partition("-")[0]
        if first.isdigit():
            return _Extent(start=int(first), size=int(size) if size.isdigit() else None)
    length = headers.get("content-length", "")
    return _Extent(start=0, size=int(length) if status == 200 and length.isdigit() else None)  # noqa: PLR2004  OK
