"""The lines of a file, in any order, with twelve bytes of memory for each."""

import os
from array import array
from collections.abc import Iterator
from typing import BinaryIO

LONGEST = 16 << 20


class Lines:
    """Takes over a file that is at its beginning; lines of nothing but white space do not count."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._status = os.fstat(file.fileno())
        self._starts = array("Q")
        self._lengths = array("I")

    def __len__(self) -> int:
        """How many lines have been read by `read_all`."""
        return len(self._starts)

    def read_all(self) -> Iterator[tuple[int, bytes]]:
        """Every line with its number, counted as people do, and once more what it needs to be found again.

        A line of more than `LONGEST` bytes, which is no line that anybody wrote, comes cut.
        """
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
        """One of the lines that were read."""
        return os.pread(self._file.fileno(), self._lengths[index], self._starts[index])

    @property
    def unchanged(self) -> bool:
        """Whether the file is still the one whose lines were read."""
        now = os.fstat(self._file.fileno())
        return (now.st_size, now.st_mtime_ns) == (self._status.st_size, self._status.st_mtime_ns)

    def close(self) -> None:
        """Close the file."""
        self._file.close()
