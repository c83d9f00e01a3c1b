"""A file that is being received: under a temporary name until it is complete."""

import errno
import fcntl
import hashlib
import os
import time
from contextlib import suppress
from types import TracebackType
from typing import Self

from smlocal.base.kernel_copy import copy_range
from smlocal.server.objects.s3_error import S3Error

_JUST_MADE_SECONDS = 60.0
"""So long a file may be there without the lock of its writer."""


class NewFile:
    """A context manager: what was not renamed in the block is removed at its end."""

    def __init__(self, folder: str) -> None:
        """`folder` is made if there is none."""
        os.makedirs(folder, exist_ok=True)
        self._path: str | None = os.path.join(folder, os.urandom(12).hex())
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        self.descriptor = os.open(self._path, flags, 0o666)
        fcntl.flock(self.descriptor, fcntl.LOCK_EX)  # a mark: its writer is alive

    def write(self, data: bytes) -> None:
        """Append bytes."""
        view = memoryview(data)
        while view:
            view = view[os.write(self.descriptor, view) :]

    def append_from(self, descriptor: int, span: tuple[int, int]) -> None:
        """Append a part of an open file, which shares its blocks where the file system can."""
        start, end = span
        if copy_range(descriptor, self.descriptor, start, end, lambda _: None) < end:
            raise OSError(errno.EIO, "a file has become shorter while it was copied")

    def md5(self) -> str:
        """Of what was written, read again."""
        with open(self.descriptor, "rb", closefd=False) as file:
            file.seek(0)
            return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()

    def state(self) -> os.stat_result:
        """Size and time."""
        return os.fstat(self.descriptor)

    def rename(self, name: str, folder: int | None) -> None:
        """Give the file its name, in an open folder if one is given. What had the name is replaced."""
        if self._path is None:
            raise AssertionError(name)
        try:
            os.replace(self._path, name, dst_dir_fd=folder)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            raise S3Error(
                "InternalError", "The folder of this bucket is on another file system than that of all buckets."
            ) from error
        self._path = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._path is not None:
            with suppress(FileNotFoundError):
                os.unlink(self._path)
        os.close(self.descriptor)


def remove_abandoned(folder: str) -> None:
    """Remove files whose writer was killed."""
    with suppress(FileNotFoundError):
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            with suppress(OSError), open(path, "rb") as file:
                if time.time() - os.fstat(file.fileno()).st_mtime < _JUST_MADE_SECONDS:
                    continue
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(path)
