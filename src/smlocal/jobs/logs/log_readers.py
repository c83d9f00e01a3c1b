"""Where the logs of a job are, the times of their bytes, and readers: of the end of a log, and of a log that grows."""

import math
import os
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, overload

from smlocal.jobs.logs.log_file import ENTRY, log_path, times_path
from smlocal.terms.log_view import LogView, view_of
from smlocal.terms.metrics import MAX_LINE

if TYPE_CHECKING:
    from smlocal.jobs.store.jobs import Store

_ENTRIES_AT_ONCE: Final = 4096


class LogTimes:
    """Reads times, for positions that only grow. The file may grow or be replaced meanwhile."""

    def __init__(self, path: str) -> None:
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


def host_logs(store: "Store", name: str) -> dict[str, str]:
    """By host, in host order: the path of its log. A file exists once its host has started."""
    from smlocal.jobs.kinds import job_hosts  # the process that searches for metrics needs no platform

    directory = store.directory(name)
    return {host: log_path(directory, host) for host in job_hosts(store, name)}


_MAX_LINES = 40
_MAX_BYTES = 1 << 18
_MAX_LENGTH = 2000
"""Characters of a line that are shown."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LogTail:
    """The last lines of the log of one host."""

    host: str
    path: str
    lines: tuple[str, ...]
    complete: bool
    """True if these are all lines of the log."""


def read_log_tail(host: str, path: str) -> LogTail | None:
    """Read the end of a log. None if there is no log."""
    try:
        with open(path, "rb") as log:
            size = log.seek(0, os.SEEK_END)
            log.seek(max(0, size - _MAX_BYTES))
            data = log.read(_MAX_BYTES)
    except OSError:
        return None
    lines = data.removesuffix(b"\n").split(b"\n") if data else []
    complete = size <= _MAX_BYTES
    if not complete and len(lines) > 1:
        lines = lines[1:]  # its beginning was not read
    shown = tuple(_shortened(view_of(line)) for line in lines[-_MAX_LINES:])
    return LogTail(host=host, path=path, lines=shown, complete=complete and len(lines) <= _MAX_LINES)


def _shortened(line: str) -> str:
    if len(line) <= _MAX_LENGTH:
        return line
    return f"{line[:_MAX_LENGTH]} … ({len(line) - _MAX_LENGTH:,} more characters)"


_PIECE: Final = 1 << 20
_MAX_KEPT: Final = 4 * MAX_LINE
"""Bytes of a line that has no end yet: the characters that are searched, four bytes each."""


class LogReader:
    """Reads a log that others write. It may be replaced by a longer one that begins with the same bytes."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._times = LogTimes(times_path(path))
        self._kept = b""
        self._skipping = False
        self.position = 0
        """Bytes that have been read."""

    def new_lines(self, *, last: bool = False) -> Iterator[tuple[str, float | None]]:
        """Lines as the service's log shows them, with their time; `last`: also a last line that has no end."""
        try:
            with open(self._path, "rb", buffering=0) as log:
                self._times.renew()
                log.seek(self.position)
                while piece := log.read(_PIECE):
                    self.position += len(piece)
                    yield from self._lines(piece)
        except FileNotFoundError:
            return
        if last and self._kept:
            line, self._kept = self._kept, b""
            yield from self._timed(line + b"\n", self.position - len(line))

    def _lines(self, piece: bytes) -> Iterator[tuple[str, float | None]]:
        if self._skipping:
            _, newline, piece = piece.partition(b"\n")
            if not newline:
                return
            self._skipping = False
        data = self._kept + piece if self._kept else piece
        whole = data.rfind(b"\n") + 1
        begins = self.position - len(data)
        self._kept = data[whole:]
        yield from self._timed(data[:whole], begins)
        if len(self._kept) > _MAX_KEPT:
            kept, self._kept = self._kept[:_MAX_KEPT], b""
            self._skipping = True
            yield from self._timed(kept + b"\n", begins + whole)

    def _timed(self, lines: bytes, begins: int) -> Iterator[tuple[str, float | None]]:
        """Split by time. The time of a line is that of its first byte."""
        start = 0
        while start < len(lines):
            at, until = self._times.at(begins + start)
            # Up to the first line that begins at the next time or later.
            end = len(lines) if until is None else lines.find(b"\n", until - begins - 1) + 1 or len(lines)
            yield LogView().feed(lines[start:end], last=True).decode(), at
            start = end
