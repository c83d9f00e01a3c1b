"""The log of one host as events: read from any position, forwards or backwards, without reading the rest.

An event is a line, with those after it that begin with a space or are empty, as the service's agent joins them. Where
events begin depends only on bytes and times near that place, so a reader may begin anywhere, and positions of events
never change while the log grows.
"""

import os
from collections.abc import Iterator
from types import TracebackType
from typing import Final, Self

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobs.logs.log_file import times_path
from smlocal.jobs.logs.log_readers import TimesIndex, in_milliseconds
from smlocal.terms.log_view import view_of

_LONGEST: Final = 1 << 18
"""Bytes of a line. A longer one is several events. Lines in different blocks of this size are not joined."""
_PIECE: Final = 1 << 20
_JOINED_SECONDS: Final = 0.2
"""Lines that come later than this after the one before are not joined to it."""
_SETTLED_SECONDS: Final = 0.3
"""The age at which nothing more is joined to an event: longer than `_JOINED_SECONDS`, as bytes follow their times."""
_OVERHEAD: Final = 26
"""Bytes that the service counts for each event beside its message."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LogEvent:
    """One event of a log."""

    begin: int
    """Its position in the log."""
    end: int
    timestamp: int
    """Milliseconds since the epoch."""
    message: str

    @property
    def counted(self) -> int:
        """Bytes towards the size of a page."""
        return len(self.message.encode()) + _OVERHEAD


class HostLog:
    """A log at the moment when it was opened. A context manager."""

    def __init__(self, path: str, *, complete: bool, created: float, now: float) -> None:
        """`complete`: nothing will be appended. `created`: the time of bytes whose time is not known."""
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self._size = os.fstat(self._descriptor).st_size
        # After the size: the times of bytes are written before them.
        self._times = TimesIndex(times_path(path))
        self._created = created
        self._chunk = b""
        self._chunk_at = 0
        self.end = self._size if complete else self._settled_end(now)
        """The end of the last event that cannot change any more."""

    def close(self) -> None:
        """Close both files."""
        os.close(self._descriptor)
        self._times.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def first_at(self, milliseconds: int) -> int:
        """Where the first event of this time or later begins."""
        if milliseconds <= in_milliseconds(self._created):
            return 0
        position = self._times.first_position(milliseconds)
        return self.end if position is None else min(self.end, self._first_event(position))

    def events(self, begin: int, stop: int) -> Iterator[LogEvent]:
        """Those from one event's position to another's. An event without text is left out, as the service has none."""
        for start, end in self._spans(begin, stop):
            self._load(start)
            line = self._bytes(start, end)
            message = view_of(line.removesuffix(b"\n"))
            if message:
                at = self._times.at(start)
                timestamp = in_milliseconds(self._created if at is None else at)
                yield LogEvent(begin=start, end=end, timestamp=timestamp, message=message)

    def events_before(self, low: int, stop: int, *, limit: int, size: int) -> list[LogEvent]:
        """The last events between two positions of events: by number, or by bytes of a page."""
        width = _PIECE >> 4
        while True:
            begin = max(low, stop - width)
            found = list(self.events(low if begin == low else self._first_event(begin), stop))
            kept = _last(found, limit, size)
            if len(kept) < len(found) or begin == low:
                return kept
            width *= 2

    def _settled_end(self, now: float) -> int:
        end = self._after_last_newline()
        if not end:
            return 0
        at = self._times.at(end - 1)
        settled = at is None or now - at >= _SETTLED_SECONDS
        if settled and not (end < self._size and self._joined(end)):
            return end
        return self._last_event_before(end)

    def _after_last_newline(self) -> int:
        stop = self._size
        while stop > 0:
            begin = max(0, stop - _PIECE)
            found = os.pread(self._descriptor, stop - begin, begin).rfind(b"\n")
            if found >= 0:
                return begin + found + 1
            stop = begin
        return 0

    def _last_event_before(self, stop: int) -> int:
        width = 1 << 12
        while True:
            begin = max(0, stop - width)
            starts = [start for start, _ in self._spans(self._first_event(begin), stop)]
            if starts or begin == 0:
                return starts[-1] if starts else 0
            width *= 4

    def _first_event(self, position: int) -> int:
        """Where the first event at this position or later begins. The rest of a line that is cut counts as none."""
        if position <= 0:
            return 0
        while position < self._size and self._byte(position - 1) != b"\n":
            self._load(position)
            found = self._chunk.find(b"\n", position - self._chunk_at)
            position = self._chunk_at + (len(self._chunk) if found < 0 else found + 1)
        while position < self._size and self._joined(position):
            position = self._line_end(position)
        return position

    def _spans(self, begin: int, stop: int) -> Iterator[tuple[int, int]]:
        """Begin and end of the events from `begin`, which is where one begins."""
        while begin < stop:
            end = self._line_end(begin)
            while end < stop and self._joined(end):
                end = self._line_end(end)
            yield begin, end
            begin = end

    def _joined(self, position: int) -> bool:
        """True if the line that begins here belongs to the event before it."""
        # Other white space is text by then: a TAB is #011.
        if self._byte(position) not in {b" ", b"\n"} or self._byte(position - 1) != b"\n":
            return False
        if position // _LONGEST != (position - 1) // _LONGEST:
            return False
        before, at = self._times.at(position - 1), self._times.at(position)
        return before == at or (before is not None and at is not None and 0 <= at - before <= _JOINED_SECONDS)

    def _line_end(self, position: int) -> int:
        """Where the line at this position ends, with its newline, or where it is cut."""
        self._load(position)
        start = position - self._chunk_at
        found = self._chunk.find(b"\n", start, start + _LONGEST)
        if found >= 0:
            return self._chunk_at + found + 1
        cut = min(start + _LONGEST, len(self._chunk))
        while cut < len(self._chunk) and self._chunk[cut] & 0xC0 == 0x80 and cut > start + _LONGEST - 4:  # noqa: PLR2004 - within a character
            cut -= 1
        return self._chunk_at + cut

    def _byte(self, position: int) -> bytes:
        self._load(position)
        return self._chunk[position - self._chunk_at : position - self._chunk_at + 1]

    def _bytes(self, begin: int, end: int) -> bytes:
        if self._chunk_at <= begin and end <= self._chunk_at + len(self._chunk):
            return self._chunk[begin - self._chunk_at : end - self._chunk_at]
        return os.pread(self._descriptor, end - begin, begin)

    def _load(self, position: int) -> None:
        """Have a longest line from here in memory, and one byte more, as far as the log goes."""
        end = self._chunk_at + len(self._chunk)
        if self._chunk_at <= position and (position + _LONGEST < end or end == self._size):
            return
        # One byte before is asked for next.
        self._chunk_at = max(0, position - 1)
        self._chunk = os.pread(self._descriptor, min(_PIECE, self._size - self._chunk_at), self._chunk_at)


def _last(events: list[LogEvent], limit: int, size: int) -> list[LogEvent]:
    total, first = 0, len(events)
    while first > 0 and len(events) - first < limit:
        total += events[first - 1].counted
        if total > size and first < len(events):
            break
        first -= 1
    return events[first:]
