"""The bodies of uploads: a part of an open file, which may still grow; and how large the parts are."""

import os
import sys
from collections.abc import Callable
from threading import Condition

from smlocal.base.quick_dataclass import dataclass
from smlocal.data.sources.s3.error_responses import TICK, FetchCancelledError
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
