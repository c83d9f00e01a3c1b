"""Reads the log of one host while it grows, in whole lines with their times."""

from collections.abc import Iterator
from typing import Final

from smlocal.contract.log_view import LogView
from smlocal.contract.metrics.metric_values import MAX_LINE
from smlocal.job.logs.log_times import LogTimes, times_path

_PIECE: Final = 1 << 20
_MAX_KEPT: Final = 4 * MAX_LINE
"""Bytes of a line that has no end yet: the characters that are searched, four bytes each."""


class LogReader:
    """Reads a log that others write. It may be replaced by a longer one that begins with the same bytes."""

    def __init__(self, path: str) -> None:
        """Nothing is read yet."""
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
