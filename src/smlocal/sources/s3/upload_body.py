"""The body of an upload: a part of an open file, read again for every attempt."""

import os
from collections.abc import Callable

from smlocal.quick_dataclass import dataclass
from smlocal.sources.s3.interface import S3Error
from smlocal.sources.s3.retry import FetchCancelledError


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

    botocore reads a body for its checksum and signature before it sends it, and again for every attempt: only what is
    read while a request is sent counts as moved. Until then a body that cannot be read seems to end, because awscrt
    signs in a thread of its own and prints what is raised there. It is raised when the request is about to be sent.
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
        """What is read from now on is sent. Not if it could not be read before."""
        self._sending = True
        if self.failure is not None:
            self._stop()

    def signal_not_transferring(self) -> None:
        """What is read from now on is not sent."""
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
