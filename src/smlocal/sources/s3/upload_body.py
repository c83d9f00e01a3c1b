"""What is sent to S3: a stretch of an open file, which can be read again for every attempt."""

import os
from collections.abc import Callable
from typing import NoReturn

from smlocal.quick_dataclass import dataclass
from smlocal.sources.s3.interface import S3Error
from smlocal.sources.s3.retry import FetchCancelledError


@dataclass(frozen=True, kw_only=True, slots=True)
class FilePart:
    """A stretch of an open file; the descriptor stays the caller's."""

    descriptor: int
    start: int
    size: int
    uri: str
    """What an error is about."""


class UnreadableBodyError(BaseException):
    """Ends a request while its body is sent; not an `Exception`, which botocore would take for a broken connection.

    asyncio.CancelledError is a BaseException for the same reason. The reason is kept in the body: awscrt, where it
    signs, raises an error of its own instead.
    """


class UploadBody:
    """A file-like object for botocore; memory holds one piece, however large the part is.

    botocore reads a body for its checksum and for the signature before it sends it, and again for every attempt: only
    what is read while a request is sent counts as moved.
    """

    def __init__(self, part: FilePart, moved: Callable[[int], None], cancelled: Callable[[], bool]) -> None:
        """`moved` is told how many bytes have gone, fewer than none when some must go again."""
        self._part = part
        self._moved, self._cancelled = moved, cancelled
        self._at = self._told = 0
        self._sending = False
        self.failure: Exception | None = None
        """Why it could not be read; what the caller of the request gets."""

    def __len__(self) -> int:
        """For the Content-Length."""
        return self._part.size

    def __bool__(self) -> bool:
        """An empty body is one, too."""
        return True

    def read(self, count: int = -1) -> bytes:
        """The next bytes."""
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
            self._tell()
        return data

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go elsewhere, mostly back to the start."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._part.size}[whence]
        self._at = base + offset
        if self._sending:
            self._tell()
        return self._at

    def tell(self) -> int:
        """Where the next byte is read."""
        return self._at

    def signal_transferring(self) -> None:
        """From now on what is read is sent; called by s3transfer's event handlers."""
        self._sending = True

    def signal_not_transferring(self) -> None:
        """From now on it is not."""
        self._sending = False

    def take_back(self) -> None:
        """The request has failed: nothing has gone."""
        self._sending = False
        self._moved(-self._told)
        self._told = 0

    def _tell(self) -> None:
        if self._at != self._told:
            self._moved(self._at - self._told)
            self._told = self._at

    def _fail(self, why: str) -> NoReturn:
        words = f"The file cannot be read while it is uploaded: {why}"
        self.failure = S3Error("IncompleteBody", words, status=400, uri=self._part.uri, operation="PutObject")
        raise UnreadableBodyError
