"""Where the logs of a job are, and their readers: of the end of a log, and of a log that grows."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from smlocal.jobs.logs.log_times import LogTimes, times_path
from smlocal.terms.log_view import LogView, view_of
from smlocal.terms.metric_values import MAX_LINE

if TYPE_CHECKING:
    from smlocal.jobs.store.jobs import Store


def log_path(job_directory: str, host: str) -> str:
    """The log of one host, with the bytes that its container wrote."""
    return f"{job_directory}/logs/{host}.log"


def logged_by(job_directory: str, host: str) -> int:
    """The present size of the log of a host."""
    try:
        return os.path.getsize(log_path(job_directory, host))
    except OSError:
        return 0


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
