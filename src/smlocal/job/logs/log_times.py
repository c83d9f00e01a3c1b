"""When the bytes of a log came: a small file beside it, only ever appended to.

An entry says that from this byte on, what is in the log came at that time. It is written before the bytes are, so
whoever has read bytes finds their entry; after a crash the last of several entries for one byte is the true one.
"""

import math
import os
from contextlib import suppress
from struct import Struct
from typing import Final

_ENTRY: Final = Struct("<Qd")
_LEAST_SECONDS: Final = 0.01
_ENTRIES_AT_ONCE: Final = 4096


def times_path(log: str) -> str:
    """`algo-1.times` for `algo-1.log`."""
    return f"{log.removesuffix('.log')}.times"


class TimesFile:
    """Takes down when bytes come, at most once in ten milliseconds; trouble with it ends that and nothing else."""

    def __init__(self, path: str) -> None:
        """Append to what is there."""
        self._descriptor = -1
        self._last = -math.inf
        with suppress(OSError):
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
            size = os.fstat(self._descriptor).st_size
            whole = size - size % _ENTRY.size  # a crash may have left half an entry
            if whole != size:
                os.ftruncate(self._descriptor, whole)

    def note(self, position: int, at: float | None) -> bool:
        """Say that the bytes from `position` on came at that time; True when it was worth an entry."""
        now = math.nan if at is None else at
        # Written so that an unknown time and a clock that was set back make an entry.
        if 0 <= now - self._last < _LEAST_SECONDS or (math.isnan(now) and math.isnan(self._last)):
            return False
        self._last = now
        if self._descriptor >= 0:
            try:
                os.write(self._descriptor, _ENTRY.pack(position, now))
            except OSError:
                self.close()
        return True

    def close(self) -> None:
        """Take down nothing more."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


class LogTimes:
    """Looks times up, for positions that only ever grow; the file may grow or be replaced meanwhile."""

    def __init__(self, path: str) -> None:
        """Look at nothing yet."""
        self._path = path
        self._descriptor = -1
        self._entries: list[tuple[int, float]] = []
        self._index = 0
        self._offset = 0
        self._at = math.nan

    def renew(self) -> None:
        """Go over to a new file, where the one that was read has been replaced."""
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
        """When the byte at `position` came, and from which byte on that is no longer true; None where unknown."""
        while (following := self._following()) is not None and following[0] <= position:
            self._at = following[1]
            self._index += 1
        return (None if math.isnan(self._at) else self._at), (None if following is None else following[0])

    def close(self) -> None:
        """Let go of the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _following(self) -> tuple[int, float] | None:
        if self._index == len(self._entries):
            data = b""
            if self._descriptor >= 0:
                with suppress(OSError):
                    data = os.pread(self._descriptor, _ENTRIES_AT_ONCE * _ENTRY.size, self._offset)
            data = data[: len(data) - len(data) % _ENTRY.size]
            self._offset += len(data)
            self._entries, self._index = list(_ENTRY.iter_unpack(data)), 0
        return self._entries[self._index] if self._entries else None


def entries_below(path: str, position: int) -> bytes:
    """The entries of the bytes before `position`, as they stand in the file."""
    kept = bytearray()
    with suppress(OSError), open(path, "rb") as times:
        while len(entry := times.read(_ENTRY.size)) == _ENTRY.size and _ENTRY.unpack(entry)[0] < position:
            kept += entry
    return bytes(kept)
