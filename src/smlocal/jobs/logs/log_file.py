"""The log of one host while it is written. If it cannot be written completely, the job goes on.

Lines that are missing because a connection broke come from the engine's own log, which is read for a limited time.
"""

import math
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain, islice
from struct import Struct
from typing import Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.base.readable import in_one_line
from smlocal.base.regex import regex

# An entry has a position in the log, and the time of the bytes from there on. It is written before the bytes, so that a
# reader who has bytes finds their entry. If a crash leaves several entries for one position, the last one is right.

ENTRY: Final = Struct("<Qd")
"""Position and time; NaN: not known."""
_MIN_SECONDS: Final = 0.01
_END_BYTES: Final = 1 << 16


def log_path(job_directory: str, host: str) -> str:
    """The log of one host, with the bytes that its container wrote."""
    return f"{job_directory}/logs/{host}.log"


def logged_by(job_directory: str, host: str) -> int:
    """The present size of the log of a host."""
    try:
        return os.path.getsize(log_path(job_directory, host))
    except OSError:
        return 0


def end_of_log(job_directory: str, host: str) -> str:
    """The last bytes of the log of a host; empty if there is none."""
    try:
        with open(log_path(job_directory, host), "rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - _END_BYTES))
            return file.read().decode(errors="replace")
    except OSError:
        return ""


def last_line(job_directory: str, host: str) -> str:
    """The last line of the log of a host that is not empty."""
    lines = reversed(end_of_log(job_directory, host).splitlines())
    return next((in_one_line(each) for each in lines if each.strip()), "")


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


def entries_below(path: str, position: int) -> bytes:
    """The bytes of the entries for positions before this one."""
    kept = bytearray()
    with suppress(OSError), open(path, "rb") as times:
        while len(entry := times.read(ENTRY.size)) == ENTRY.size and ENTRY.unpack(entry)[0] < position:
            kept += entry
    return bytes(kept)


class LogFile:
    """Gets what a container writes. If the disk is full, the log ends, but the container is still read."""

    def __init__(self, path: str) -> None:
        """Open it for appending: later attempts of a job use the same file."""
        self._error: str | None = None
        self._descriptor = -1
        self._position = 0
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
            self._position = os.fstat(self._descriptor).st_size
            self._times = TimesFile(times_path(path))
        except OSError as error:
            self._error = str(error)

    @property
    def size(self) -> int:
        """Where the next byte goes."""
        return self._position

    def write(self, data: bytes, at: float | None = None) -> None:
        """Append the whole text, which was written now or `at`.

        After the first error nothing more is written, so that nothing is missing in the middle.
        """
        if self._error is not None:
            return
        # A reader that finds the bytes must find their time.
        self._times.note(self._position, time.time() if at is None else at)
        view = memoryview(data)
        try:
            while view:
                written = os.write(self._descriptor, view)
                self._position += written
                view = view[written:]
        except OSError as error:
            self._error = error.strerror or str(error)

    def close(self) -> str | None:
        """Why the log is not complete; None if it is."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._times.close()
        return self._error


def rewrite_log(path: str, keep: int, pieces: Iterable[tuple[float | None, bytes]]) -> None:
    """Replace everything after the first `keep` bytes of a log by pieces with their times; raises `OSError`.

    If reading the pieces ends early with a `LookEndedError`, the log is replaced only by a longer one.
    """
    draft, times = f"{path}.partial", times_path(path)
    times_draft = f"{times}.partial"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(draft, "wb") as log, open(times_draft, "wb") as earlier_times:
        earlier_times.write(entries_below(times, keep))
        if keep:
            with open(path, "rb") as earlier:
                log.write(earlier.read(keep))
        earlier_times.flush()
        new_times = TimesFile(times_draft)
        ended: LookEndedError | None = None
        try:
            position = log.tell()
            for at, piece in pieces:
                new_times.note(position, at)
                log.write(piece)
                position += len(piece)
        except LookEndedError as error:
            ended = error
        finally:
            new_times.close()
    if ended is not None and os.path.exists(path) and os.path.getsize(path) >= position:
        os.unlink(draft)
        os.unlink(times_draft)
        raise ended
    # In this order: a reader that finds the bytes must find their time.
    os.replace(times_draft, times)
    os.replace(draft, path)
    if ended is not None:
        raise ended


_LINES_AT_ONCE = 256
"""So many are read between two looks at the clock."""


class LookEndedError(Exception):
    """The time is up, and not all of the log has been read."""


@dataclass(kw_only=True, slots=True)
class LimitedLook:
    """One look, and the part that it has left out."""

    limit: Callable[[], float]
    """Gives the seconds that it may take; they may become fewer meanwhile."""
    lines: int = 0
    size: int = 0
    seconds: float = 0.0

    def pieces(self, log: Iterable[tuple[float | None, bytes]]) -> Iterator[tuple[float | None, bytes]]:
        """Yield the content of the log; `LookEndedError` when the time is up."""
        began = time.monotonic()
        for at, piece in log:
            if self.lines % _LINES_AT_ONCE == 0:
                self.seconds = time.monotonic() - began
                if self.seconds >= self.limit():
                    raise LookEndedError
            self.lines += 1
            self.size += len(piece)
            yield at, piece

    @property
    def left_out(self) -> str:
        """The part that was not read, as a sentence."""
        return (
            f"the engine's log was read for {self.seconds:.0f} s, to line {self.lines:,} (byte {self.size:,}); "
            "lines after that may be missing"
        )


_WINDOW = 1 << 16
"""Lines of two streams may be in another order there. Only the last bytes of ours are compared line by line."""
_MOST_EARLIER = 1000
_LINE = regex(rb"[^\n]*\n|[^\n]+")


class BeginningGoneError(Exception):
    """The engine has thrown away the beginning of its log."""


def missed_output(
    path: str, begin: int, pieces: Iterable[tuple[float | None, bytes]]
) -> Iterator[tuple[float | None, bytes]]:
    """Yield the lines that are missing at the end of our log, with their times. It begins at byte `begin` of the file.

    The engine's log is given as `pieces` of whole lines with their times, from the start of the container.
    """
    with open(path, "rb") as log:
        log.seek(begin)
        head = log.read(_WINDOW)
        end = log.seek(0, 2)
        log.seek(max(begin, end - _WINDOW))
        if log.tell() > begin:
            log.readline()
        before = log.tell() - begin
        tail = _LINE.findall(log.read())
    # The connection may have broken within a line.
    partial = tail.pop() if tail and not tail[-1].endswith(b"\n") else b""
    lines = ((at, line) for at, piece in pieces for line in _LINE.findall(piece))
    first = next(lines, None)
    if first is None or (head and first[1] not in head and not (partial and first[1].startswith(partial))):
        raise BeginningGoneError("the engine has not kept its beginning")
    missing = _unread(chain((first,), lines), before, Counter(tail))
    yield from _continued(missing, partial) if partial else missing


def _unread(
    lines: Iterable[tuple[float | None, bytes]], before: int, read: Counter[bytes]
) -> Iterator[tuple[float | None, bytes]]:
    position = 0
    for at, line in lines:
        position += len(line)
        if position <= before:
            continue
        if read[line]:
            read[line] -= 1
        else:
            yield at, line


def _continued(lines: Iterator[tuple[float | None, bytes]], partial: bytes) -> Iterator[tuple[float | None, bytes]]:
    """Yield first the rest of the line that we have a part of. The other stream may have written before its end."""
    earlier = []
    for at, line in islice(lines, _MOST_EARLIER):
        if line.startswith(partial):
            yield at, line[len(partial) :]
            break
        earlier.append((at, line))
    else:
        if earlier:
            yield earlier[0][0], b"\n"
    yield from earlier
    yield from lines
