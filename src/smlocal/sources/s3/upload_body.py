"""The body of an upload: a part of an open file, read again for every attempt."""

import os
from collections.abc import Callable
from typing import NoReturn

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
    """Stops a request while its body is sent. Not an `Exception`, which botocore would treat as a broken connection.

    The reason is in `UploadBody.failure`: where awscrt signs, it raises its own error instead of this one.
    """


class UploadBody:
    """A file-like object for botocore; memory holds one piece of the part at a time.

    botocore reads a body for its checksum and signature before it sends it, and again for every attempt: only what is
    read while a request is sent counts as moved.
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
            raise UnreadableBodyError
        part = self._part
        left = part.size - self._at
        wanted = left if count < 0 else min(count, left)
        if not wanted:
            return b""
        try:
            data = os.pread(part.descriptor, wanted, part.start + self._at)
        except OSError as error:
            self._fail(str(error.strerror))
        else:
            if not data:
                self._fail("it has become shorter")
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
        """What is read from now on is sent; called by s3transfer's event handlers."""
        self._sending = True

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

    def _fail(self, why: str) -> NoReturn:
        text = f"The file cannot be read while it is uploaded: {why}"
        self.failure = S3Error("IncompleteBody", text, status=400, uri=self._part.uri, operation="PutObject")
        raise UnreadableBodyError
