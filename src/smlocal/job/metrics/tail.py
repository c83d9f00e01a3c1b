"""The log of one host as its metrics are read: what is new of it, in whole lines and with their times."""

from collections.abc import Iterator
from typing import Final

from smlocal.contract.log_view import LogView
from smlocal.contract.metrics.values import LONGEST_LINE
from smlocal.job.logs.log_times import LogTimes, times_path

_PIECE: Final = 1 << 20
_MOST_KEPT: Final = 4 * LONGEST_LINE
"""Of a line without an end: as many characters as are searched, each of four bytes."""


class Tail:
    """Goes through a log that others write. It may be replaced by a longer one that begins with the same bytes."""

    def __init__(self, path: str) -> None:
        """Begin at the first byte."""
        self._path = path
        self._times = LogTimes(times_path(path))
        self._kept = b""
        self._passing_over = False
        self.position = 0
        """How much has been read."""

    def new(self, *, last: bool = False) -> Iterator[tuple[str, float | None]]:
        """Yield lines in the service's view that came at one time; `last` brings a last line that has no end."""
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
        if self._passing_over:
            _, newline, piece = piece.partition(b"\n")
            if not newline:
                return
            self._passing_over = False
        data = self._kept + piece if self._kept else piece
        whole = data.rfind(b"\n") + 1
        begins = self.position - len(data)
        self._kept = data[whole:]
        yield from self._timed(data[:whole], begins)
        if len(self._kept) > _MOST_KEPT:
            kept, self._kept = self._kept[:_MOST_KEPT], b""
            self._passing_over = True
            yield from self._timed(kept + b"\n", begins + whole)

    def _timed(self, lines: bytes, begins: int) -> Iterator[tuple[str, float | None]]:
        """Cut where another time begins. A line came when its first byte did."""
        start = 0
        while start < len(lines):
            at, until = self._times.at(begins + start)
            # The first line that begins where another time does, or later.
            end = len(lines) if until is None else lines.find(b"\n", until - begins - 1) + 1 or len(lines)
            yield LogView().feed(lines[start:end], last=True).decode(), at
            start = end
