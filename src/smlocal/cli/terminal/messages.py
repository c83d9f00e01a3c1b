"""Print messages and progress to stderr, while the output of containers may go to the same terminal.

Nothing here waits for a reader: the supervising thread prints, and must be able to stop the job at any time.
"""

import math
import os
import select
import stat
import sys
import time
from collections.abc import Callable
from enum import StrEnum
from threading import Event, Lock, Thread

from smlocal.cli.terminal.bottom_line import BottomLine, columns_of_terminal
from smlocal.cli.terminal.printable import own_lines


class ProgressMode(StrEnum):
    """What is written to standard error."""

    TTY = "tty"
    """A line at the bottom of the terminal that changes."""
    PLAIN = "plain"
    """Only lines: one every ten seconds about something that takes long."""
    JSON = "json"
    """One JSON object for each event."""
    QUIET = "quiet"
    """Only errors, and why a job failed."""


PROGRESS_NAMES = ("auto", *(mode.value for mode in ProgressMode))
PROGRESS_VARIABLE = "SMLOCAL_PROGRESS"


def chosen_mode(name: str | None, *, quiet: bool) -> ProgressMode:
    """The mode; `auto` is `tty` if standard error is a terminal that can move its cursor, and `plain` otherwise."""
    if quiet:
        return ProgressMode.QUIET
    if name is not None and name != "auto":
        return ProgressMode(name)
    return ProgressMode.TTY if os.isatty(2) and os.environ.get("TERM") != "dumb" else ProgressMode.PLAIN


PIECE = 4096
"""PIPE_BUF: if a pipe is ready for writing, a write of so many bytes does not block."""
_POLL_SECONDS = 1.0
_ONE_AT_A_TIME = Lock()
"""Two descriptors may lead to the same pipe: no other thread may fill it between poll and write."""


class NonblockingWriter:
    """Writes to standard output or standard error, whose reader may have stopped reading."""

    def __init__(self, descriptor: int) -> None:
        """The descriptor is not made non-blocking, because other processes share its flags."""
        self._descriptor = descriptor
        self._never_full = stat.S_ISREG(os.fstat(descriptor).st_mode)
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLOUT)

    def try_write(self, data: memoryview) -> int:
        """Write what is possible without waiting; returns the number of bytes. `OSError` if the reader is gone."""
        if self._never_full:
            return os.write(self._descriptor, data)
        with _ONE_AT_A_TIME:
            if not self._poll.poll(0):
                return 0
            return os.write(self._descriptor, data[:PIECE])

    def write(self, data: bytes, before_waiting: Callable[[], None]) -> None:
        """Write all bytes, however long it takes."""
        view = memoryview(data)
        while view:
            if went := self.try_write(view):
                view = view[went:]
            else:
                before_waiting()
                self.wait(_POLL_SECONDS)

    def wait(self, seconds: float) -> None:
        """Wait until there may be room."""
        poll = select.poll()
        poll.register(self._descriptor, select.POLLOUT)
        poll.poll(seconds * 1000)


def is_same_file(one: int, other: int) -> bool:
    """True if two descriptors lead to the same terminal, pipe or file."""
    first, second = os.fstat(one), os.fstat(other)
    return (first.st_dev, first.st_ino) == (second.st_dev, second.st_ino)


_NEWLINE = 10
_CLEAR_LINE = b"\r\033[K"
_ABOVE = PIECE - 1024
"""Bytes of output that are written at once above the line at the bottom, which needs room too."""
_UNREAD_SECONDS = 2.0
"""When the job is being stopped, a reader that has read nothing for so long is not waited for."""


class Messages:
    """Prints messages, and keeps the state of the line that the cursor is on."""

    def __init__(self, *, output_to: int, quiet: bool, live: bool) -> None:
        """`output_to` is the file descriptor of the containers' output; with `quiet` nothing is printed.

        With `live` there is a line at the bottom whose text changes.
        """
        descriptor = sys.stderr.fileno()
        self.live = live and not quiet
        self.quiet = quiet
        self.lines_shown = 0
        """Lines of the containers' output, if it goes to the same file."""
        self.shared = is_same_file(descriptor, output_to)
        self.stopping_since: float | None = None
        """When the stop of the job began, on the monotonic clock."""
        self.last_print = time.monotonic()
        """When something was printed to the file of the messages."""
        self._writer = NonblockingWriter(descriptor)
        self._terminal = os.isatty(descriptor) and os.environ.get("TERM") != "dumb"
        self._lock = Lock()
        self._gone = False
        """True if standard error cannot be written."""
        self._pending = b""
        self._line_open = False
        self._bottom = BottomLine(descriptor, live=self.live)
        self._lasting = False

    def print(self, line: str) -> None:
        """Print a line as soon as there is room for it."""
        with self._lock:
            start = self._fresh_line()
            if not self._lasting:
                self._bottom.text = ""
            self._put(start + _encoded(own_lines(line)) + b"\n" + self._bottom.show())
            self.last_print = time.monotonic()

    def show_status(self, text: str, *, lasting: bool = False) -> None:
        """Set the line at the bottom. Other output moves it down if it is `lasting`, and replaces it otherwise.

        An empty text removes it.
        """
        text = own_lines(text)
        with self._lock:
            self._lasting = lasting
            if self._pending and self.live:
                self._bottom.text = text  # it is drawn later
            else:
                self._put(self._bottom.change(text))

    def after_key(self) -> None:
        """Start a new line, because the terminal may just have shown `^C`."""
        with self._lock:
            if not self._terminal:
                return
            erased = self._bottom.hide()
            self._put(erased + (b"\n" if self._line_open else _CLEAR_LINE))
            self._line_open = False
            self._bottom.line_ended()
            self._put(self._bottom.show())

    def write_output(self, writer: NonblockingWriter, data: memoryview) -> int:
        """Write output of a container without waiting; returns the number of bytes written."""
        with self._lock:
            if not self.shared:
                return writer.try_write(data)
            if self._bottom.text:
                return self._write_above(writer, data)
            went = writer.try_write(data)
            if went:
                piece = bytes(data[:went])
                self._bottom.written(piece)
                self._count(piece)
            return went

    def finish(self, text: str, before_waiting: Callable[[], None]) -> None:
        """Print the last message, also if quiet, and wait until it is read.

        If the job is being stopped, it does not wait for long.
        """
        with self._lock:
            if text or not self.quiet:
                start = self._fresh_line(clear=bool(text))
                self._bottom.text = ""
                self._put(start + (_encoded(text) + b"\n" if text else b""), last=True)
            last = time.monotonic()
            while self._pending and not self.reader_is_gone(last):
                before_waiting()
                self._writer.wait(0.2)
                before = len(self._pending)
                self._put(b"", last=True)
                last = time.monotonic() if len(self._pending) < before else last

    def reader_is_gone(self, last: float) -> bool:
        """True if the job is being stopped and the reader, who last read at time `last`, is not waited for any more."""
        return self.stopping_since is not None and time.monotonic() - max(last, self.stopping_since) > _UNREAD_SECONDS

    def _write_above(self, writer: NonblockingWriter, data: memoryview) -> int:
        """Write output above the line at the bottom, in one write: nothing can come between."""
        self._put(b"" if self._lasting else self._bottom.change(""))
        if self._pending:
            return 0
        piece = bytes(data[:_ABOVE])
        if len(data) > _ABOVE:
            piece = piece[: piece.rfind(b"\n") + 1] or piece
        line = self._bottom.line
        before, after = self._bottom.around(piece)
        went = writer.try_write(memoryview(before + piece + after))
        of_piece = max(0, min(went - len(before), len(piece)))
        if of_piece < len(piece):
            # There was no room for everything. The line at the bottom comes back with the next piece.
            self._pending = before[went:]
            piece = piece[:of_piece]
            self._bottom.cut_off(line, piece)
        else:
            self._pending = (before + piece + after)[went:]
        if piece:
            self._count(piece)
        return len(piece)

    def _count(self, written: bytes) -> None:
        self._line_open = written[-1] != _NEWLINE
        self.lines_shown += written.count(b"\n")
        self.last_print = time.monotonic()

    def _fresh_line(self, *, clear: bool = True) -> bytes:
        """The bytes that move the cursor to the start of an empty line. Without `clear`, text there stays."""
        erased = self._bottom.hide()
        # The last line of a container may have no newline. At the start of a line, the terminal may have shown a key.
        start = b"\n" if self._line_open else _CLEAR_LINE if clear and self.live and self._terminal else b""
        self._line_open = False
        self._bottom.line_ended()
        return erased + start

    def _put(self, data: bytes, *, last: bool = False) -> None:
        if self._gone or (self.quiet and not last):
            return
        self._pending += data
        try:
            while self._pending and (went := self._writer.try_write(memoryview(self._pending))):
                self._pending = self._pending[went:]
        except OSError:
            self.quiet, self._pending = True, b""


def _encoded(text: str) -> bytes:
    return text.encode(sys.stderr.encoding, errors="backslashreplace")


_SECOND = 1.0
PLAIN_SECONDS = 10.0
_MINUTE, _HOUR = 60, 3600


class RunningLine:
    """Starts when it is created, and ends with `end`. Other output is not disturbed."""

    def __init__(self, messages: Messages, text: Callable[[int], str]) -> None:
        """`text` gets the columns of the terminal, 0 if there is none."""
        self._messages = messages
        self._text = text
        self._over = Event()
        self._thread = Thread(target=self._run, name="running-line", daemon=True)
        self._thread.start()

    def show(self) -> None:
        """Show the line at once, on a terminal."""
        if self._messages.live:
            self._messages.show_status(self._text(columns_of_terminal(2)), lasting=True)

    def end(self) -> None:
        """Remove the line."""
        self._over.set()
        self._thread.join(_SECOND)
        if self._messages.live:
            self._messages.show_status("")

    def _run(self) -> None:
        while not self._over.wait(_SECOND):
            if self._messages.live:
                self.show()
            elif time.monotonic() - self._messages.last_print >= PLAIN_SECONDS:
                # What prints its own lines shows that it is running.
                self._messages.print(self._text(0))


def training_text(word: str, began: float) -> Callable[[int], str]:
    """`● Training       41 s`; `began` on the monotonic clock."""
    return lambda _: f"● {word}       {duration(time.monotonic() - began)}"


class Countdown:
    """The seconds that a stopping job has left."""

    def __init__(self, *, why: str, grace: float) -> None:
        """The time begins now."""
        self._why = why
        self._grace = grace
        self._until = time.monotonic() + grace

    def __call__(self, columns: int) -> str:
        """The text that fits; without a terminal a short one."""
        left = f"   {max(0, math.ceil(self._until - time.monotonic()))} s"
        if not columns:
            return f"◌ Stopping    {left} left"
        for text in (
            f"◌ Stopping       {self._why}, up to {self._grace:g} s to save work (Ctrl-C again to kill now)",
            f"◌ Stopping       {self._why} (Ctrl-C again to kill now)",
            f"◌ Stopping       {self._why}",
            "◌ Stopping",
        ):
            if len(text) + len(left) < columns:
                return text + left
        return f"◌{left[2:]}"


def duration(seconds: float) -> str:
    """`41 s`, `12 min 5 s`, `1 h 12 min`."""
    whole = int(seconds)
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE} s"
    return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE} min"
