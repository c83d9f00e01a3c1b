"""Random access to the lines of a file, with twelve bytes of memory per line."""

import os
from array import array
from collections.abc import Iterator
from typing import BinaryIO

LONGEST = 16 << 20


class Lines:
    """Owns the file, which is at its start; blank lines do not count."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._status = os.fstat(file.fileno())
        self._starts = array("Q")
        self._lengths = array("I")

    def __len__(self) -> int:
        """The number of lines that `read_all` has read."""
        return len(self._starts)

    def read_all(self) -> Iterator[tuple[int, bytes]]:
        """Read every line, with its number counted from 1. A line of more than `LONGEST` bytes is cut."""
        start = 0
        number = 0
        while line := self._file.readline(LONGEST + 1):
            number += 1
            if not line.isspace():
                self._starts.append(start)
                self._lengths.append(len(line))
                yield number, line
            start += len(line)

    def line(self, index: int) -> bytes:
        """Read one of the lines again."""
        return os.pread(self._file.fileno(), self._lengths[index], self._starts[index])

    @property
    def unchanged(self) -> bool:
        """Whether the file has not changed since it was opened."""
        now = os.fstat(self._file.fileno())
        return (now.st_size, now.st_mtime_ns) == (self._status.st_size, self._status.st_mtime_ns)

    def close(self) -> None:
        """Close the file."""
        self._file.close()
