"""A range of one object, read piece by piece; a body that breaks off goes on where it broke."""

from collections.abc import Callable, Mapping

from smlocal.sources.s3.error_responses import changed, extent_of, unanswered
from smlocal.sources.s3.get_object import BrokenBodyError, ObjectBody
from smlocal.sources.s3.interface import S3Error, S3Object
from smlocal.sources.s3.retry import Retry
from smlocal.sources.s3.stored_checksum import CHECKSUM_MODE

_SKIPPED = 256 << 10
_BAD_RANGE = 416


class RangeReader:
    """Use `S3Client.open_range`; for one thread, and closed by whoever opened it."""

    def __init__(
        self,
        get: Callable[[S3Object, Mapping[str, str], Retry], ObjectBody],
        retry: Retry,
        wanted: S3Object,
        start: int,
        length: int | None,
    ) -> None:
        """A reader that has asked nothing yet; `length` None means all that there is.

        `get` asks for an object, with headers, until there is an answer.
        """
        self.object = wanted
        """What is read; its size and ETag are known after the first read."""
        self.headers: dict[str, str] = {}
        """Of an answer that held the whole object, and with it perhaps S3's checksum; empty for a part."""
        self._get = get
        self._retry = retry
        self._at = start
        self._end = None if length is None else start + length
        self._bound()
        self._answer: ObjectBody | None = None
        self._ended = False

    def fill(self, buffer: memoryview) -> int:
        """Read until the buffer is full or the range ends; how many bytes that were."""
        count = 0
        while count < len(buffer) and (more := self.readinto(buffer[count:])):
            count += more
        return count

    def readinto(self, buffer: memoryview) -> int:
        """Read some bytes; 0 at the end of the range or of the object. The first call asks S3, even for no byte."""
        self._retry.begin()
        while not self._ended:
            try:
                count = self._some(buffer)
            except BrokenBodyError as error:
                self.close()
                self._retry.pause(unanswered(error, self.object.uri, "GetObject"))
            else:
                if self._at == self._end or (buffer and not count):
                    self._ended = True
                    self.close()
                return count
        return 0

    def close(self) -> None:
        """Let the connection go; one in the middle of a body is closed."""
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

    def _bound(self) -> None:
        """The range ends where the object does."""
        if self.object.size is not None:
            end = self.object.size if self._end is None else min(self._end, self.object.size)
            self._end = max(end, self._at)

    def _open(self) -> ObjectBody | None:
        """Ask for what is left; None when the object ends before that."""
        size = self.object.size
        if self._at and size is not None and self._at >= size:
            return None
        headers = dict(CHECKSUM_MODE)
        # The whole object is asked for without a range: only then does S3 send its checksum.
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
            # An object without bytes has no first byte to ask for.
            del headers["range"]
            answer = self._get(self.object, headers, self._retry)
        self._answer = answer
        self._check(answer)
        return answer

    def _check(self, answer: ObjectBody) -> None:
        """See that this is what was asked for; some servers ignore If-Match, and some the range."""
        known, etag = self.object, answer.headers.get("etag")
        extent = extent_of(answer.status, answer.headers)
        if known.etag and etag and known.etag.strip('"') != etag.strip('"'):
            raise changed(known.uri)
        if known.size is not None and extent.size is not None and known.size != extent.size:
            raise changed(known.uri)
        self.object = known._replace(size=extent.size if known.size is None else known.size, etag=known.etag or etag)
        self._bound()
        if extent.start == self._at == 0 and self._end == self.object.size:
            self.headers = answer.headers
        if extent.start > self._at:
            words = f"S3 sent the bytes from {extent.start} on, asked for those from {self._at} on"
            raise S3Error("InvalidRange", words, status=answer.status, uri=known.uri, operation="GetObject")
        _skip(answer, self._at - extent.start)


def _skip(answer: ObjectBody, count: int) -> None:
    piece = memoryview(bytearray(min(count, _SKIPPED)))
    while count:
        skipped = answer.read_into(piece[:count])
        if not skipped:
            raise BrokenBodyError("the body was cut short")
        count -= skipped
