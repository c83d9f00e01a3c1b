"""Looks up the times of a log at any position, and positions by time, without reading the whole file of times."""

import math
import os
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from contextlib import suppress
from typing import overload

from smlocal.job.logs.log_times import ENTRY

_BLOCK = 512
"""Entries that are read at once."""


class TimesIndex(Sequence[tuple[int, float]]):
    """The entries at the moment when it was made. A time that is not known is taken to be the last known one."""

    def __init__(self, path: str) -> None:
        """Without a file there are no entries."""
        self._descriptor = -1
        self._length = 0
        self._block: list[tuple[int, float]] = []
        self._block_number = -1
        self._index = -1
        with suppress(OSError):
            self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            self._length = os.fstat(self._descriptor).st_size // ENTRY.size

    def close(self) -> None:
        """Close the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor, self._length = -1, 0

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> tuple[int, float]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[tuple[int, float]]: ...
    def __getitem__(self, index: int | slice) -> tuple[int, float] | Sequence[tuple[int, float]]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        if not 0 <= index < self._length:
            raise IndexError(index)
        position, at = self._entry(index)
        while math.isnan(at) and index > 0:
            index -= 1
            at = self._entry(index)[1]
        return position, at

    def at(self, position: int) -> float | None:
        """The time of the byte at `position`; None: not known. Fast for positions that grow."""
        if not self._holds(self._index, position):
            following = self._index + 1
            if self._holds(following, position):
                self._index = following
            else:
                self._index = bisect_right(self, position, key=lambda entry: entry[0]) - 1
        at = math.nan if self._index < 0 else self[self._index][1]
        return None if math.isnan(at) else at

    def first_position(self, milliseconds: int) -> int | None:
        """Where the first byte of this time or later is; None if there is none."""
        index = bisect_left(self, milliseconds, key=lambda entry: in_milliseconds(entry[1]))
        return self[index][0] if index < self._length else None

    def _holds(self, index: int, position: int) -> bool:
        """True if the byte at `position` has the time of this entry; -1: no entry."""
        if not -1 <= index < self._length:
            return False
        begins = 0 if index < 0 else self._entry(index)[0]
        return begins <= position and (index + 1 == self._length or position < self._entry(index + 1)[0])

    def _entry(self, index: int) -> tuple[int, float]:
        number, place = divmod(index, _BLOCK)
        if number != self._block_number or place >= len(self._block):
            data = os.pread(self._descriptor, _BLOCK * ENTRY.size, number * _BLOCK * ENTRY.size)
            self._block = list(ENTRY.iter_unpack(data[: len(data) - len(data) % ENTRY.size]))
            self._block_number = number
        return self._block[place]


def in_milliseconds(at: float) -> int:
    """Whole milliseconds; 0 for a time that is not known."""
    return 0 if math.isnan(at) else math.floor(at * 1000)
