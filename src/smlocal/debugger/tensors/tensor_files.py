"""Files of the debugger's library, and errors in them.

A container has written them: a FIFO would not end, and a link might lead anywhere.
"""

import mmap
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from smlocal.base.quick_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Damage:
    """One place. The rest of the files is read."""

    file: str
    """Below the folder with the tensors."""
    offset: int
    """In bytes."""
    problem: str

    def __str__(self) -> str:
        return f"{self.file}, byte {self.offset:,}: {self.problem}"


class DamagedError(Exception):
    """A file is not what the library writes."""

    def __init__(self, offset: int, problem: str) -> None:
        """`problem` goes on after the name of the file."""
        super().__init__(problem)
        self.offset = offset
        self.problem = problem


def read_regular_file(path: str) -> bytes:
    """All bytes of a file; `DamagedError` if it cannot be read."""
    with _opened(path) as (descriptor, _), open(descriptor, "rb", closefd=False) as file:
        return file.read()


def mapped(path: str) -> memoryview:
    """The bytes of a file, read when they are looked at; `DamagedError` if it cannot be read."""
    with _opened(path) as (descriptor, size):
        # The map stays open until nothing refers to it any more.
        return memoryview(mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ) if size else b"")


@contextmanager
def _opened(path: str) -> Iterator[tuple[int, int]]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise DamagedError(0, "it is not a regular file")
            yield descriptor, found.st_size
        finally:
            os.close(descriptor)
    except OSError as error:
        raise DamagedError(0, f"it cannot be read: {error.strerror}") from None
