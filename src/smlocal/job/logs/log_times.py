"""The times of the bytes of a log, in a small file beside it that is only appended to.

An entry has a position in the log, and the time of the bytes from there on. It is written before the bytes, so that a
reader who has bytes finds their entry. If a crash leaves several entries for one position, the last one is right.
"""

import math
import os
from contextlib import suppress
from struct import Struct
from typing import Final

ENTRY: Final = Struct("<Qd")
"""Position and time; NaN: not known."""
_MIN_SECONDS: Final = 0.01
_ENTRIES_AT_ONCE: Final = 4096


def times_path(log: str) -> str:
    """`host.times` for `host.log`."""
    return f"{log.removesuffix('.log')}.times"


class TimesFile:
    """Writes entries, at most one in ten milliseconds. After an error it writes no more."""

    def __init__(self, path: str) -> None:
        """Open the file for appending."""
        self._descriptor = -1
        self._last = -math.inf
        with suppress(OSError):
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
            size = os.fstat(self._descriptor).st_size
            whole = size - size % ENTRY.size  # a crash may have left half an entry
            if whole != size:
                os.ftruncate(self._descriptor, whole)

    def note(self, position: int, at: float | None) -> None:
        """The bytes from `position` on have this time."""
        now = math.nan if at is None else at
        # An unknown time and a clock that was set back make an entry too.
        if 0 <= now - self._last < _MIN_SECONDS or (math.isnan(now) and math.isnan(self._last)):
            return
        self._last = now
        if self._descriptor >= 0:
            try:
                os.write(self._descriptor, ENTRY.pack(position, now))
            except OSError:
                self.close()

    def close(self) -> None:
        """Close the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    __del__ = close


class LogTimes:
    """Reads times, for positions that only grow. The file may grow or be replaced meanwhile."""

    def __init__(self, path: str) -> None:
        """Nothing is read yet."""
        self._path = path
        self._descriptor = -1
        self._entries: list[tuple[int, float]] = []
        self._index = 0
        self._offset = 0
        self._at = math.nan

    def renew(self) -> None:
        """Open the file, if it is new or has been replaced."""
        with suppress(OSError):
            new = os.stat(self._path)
            if self._descriptor >= 0:
                old = os.fstat(self._descriptor)
                if (old.st_dev, old.st_ino) == (new.st_dev, new.st_ino):
                    return
            self.close()
            self._descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
            self._entries, self._index, self._offset, self._at = [], 0, 0, math.nan

    def at(self, position: int) -> tuple[float | None, int | None]:
        """The time of the byte at `position`, and the position where another time begins. None: not known."""
        while (entry := self._next_entry()) is not None and entry[0] <= position:
            self._at = entry[1]
            self._index += 1
        return (None if math.isnan(self._at) else self._at), (None if entry is None else entry[0])

    def close(self) -> None:
        """Close the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    __del__ = close

    def _next_entry(self) -> tuple[int, float] | None:
        if self._index == len(self._entries):
            data = b""
            if self._descriptor >= 0:
                with suppress(OSError):
                    data = os.pread(self._descriptor, _ENTRIES_AT_ONCE * ENTRY.size, self._offset)
            data = data[: len(data) - len(data) % ENTRY.size]
            self._offset += len(data)
            self._entries, self._index = list(ENTRY.iter_unpack(data)), 0
        return self._entries[self._index] if self._entries else None


def entries_below(path: str, position: int) -> bytes:
    """The bytes of the entries for positions before this one."""
    kept = bytearray()
    with suppress(OSError), open(path, "rb") as times:
        while len(entry := times.read(ENTRY.size)) == ENTRY.size and ENTRY.unpack(entry)[0] < position:
            kept += entry
    return bytes(kept)
