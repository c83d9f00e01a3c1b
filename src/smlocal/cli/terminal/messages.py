"""Print messages to stderr, line by line, while the output of containers may go to the same terminal.

Nothing here waits for a reader: the supervising thread prints, and must be able to stop the job at any time.
"""

import os
import sys
import time
from collections.abc import Callable
from threading import Lock

from smlocal.cli.terminal.nonblocking_writer import NonblockingWriter, is_same_file

_NEWLINE = 10
_CLEAR_LINE = b"\r\033[K"
_UNREAD_SECONDS = 2.0
"""When the job is being stopped, a reader that has read nothing for so long is not waited for."""


class Messages:
    """Prints messages, and keeps the state of the line that the cursor is on."""

    def __init__(self, *, output_to: int, quiet: bool) -> None:
        """`output_to` is the file descriptor of the containers' output; with `quiet` nothing is printed."""
        descriptor = sys.stderr.fileno()
        self.terminal = descriptor if os.isatty(descriptor) and os.environ.get("TERM") != "dumb" else None
        self.lines_shown = 0
        """Lines of the containers' output, if it goes to the same file."""
        self.shared = is_same_file(descriptor, output_to)
        self.stopping_since: float | None = None
        """When the stop of the job began, on the monotonic clock."""
        self._writer = NonblockingWriter(descriptor)
        self._quiet = quiet
        self._lock = Lock()
        self._pending = b""
        self._line_open = False
        self._drawn = False
        self._lasting = False
        self._kept = False

    def print(self, line: str) -> None:
        """Print a line as soon as there is room for it."""
        with self._lock:
            self._put(self._fresh_line() + _encoded(line) + b"\n")

    def draw(self, text: str, *, lasting: bool = False) -> None:
        """Replace the last line that was drawn, on a terminal. All other output replaces it.

        The last state of a `lasting` line stays visible, once.
        """
        with self._lock:
            if self._line_open or self._pending:
                return
            self._put(_CLEAR_LINE + _encoded(text))
            self._drawn, self._lasting = True, lasting

    def after_key(self) -> None:
        """Start a new line, because the terminal may just have shown `^C`."""
        with self._lock:
            if self.terminal is not None:
                self._put(b"\n" if self._line_open else _CLEAR_LINE)
                self._line_open = False

    def write_output(self, writer: NonblockingWriter, data: memoryview) -> int:
        """Write output of a container without waiting; returns the number of bytes written."""
        with self._lock:
            if not self.shared:
                return writer.try_write(data)
            if self._drawn:
                self._put(self._fresh_line())
            went = writer.try_write(data)
            if went:
                self._line_open = data[went - 1] != _NEWLINE
                self.lines_shown += bytes(data[:went]).count(b"\n")
            return went

    def finish(self, text: str, before_waiting: Callable[[], None]) -> None:
        """Print the last message, also if quiet, and wait until it is read.

        If the job is being stopped, it does not wait for long.
        """
        with self._lock:
            if text or not self._quiet:
                self._put(self._fresh_line() + (_encoded(text) + b"\n" if text else b""), last=True)
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

    def _fresh_line(self) -> bytes:
        """The bytes that move the cursor to the start of an empty line."""
        if self._drawn:
            self._drawn = False
            if not self._lasting:
                return _CLEAR_LINE
            kept, self._kept = self._kept, True
            return _CLEAR_LINE if kept else b"\n"
        # The last line of a container may have no newline.
        start = b"\n" if self._line_open else b""
        self._line_open = False
        return start

    def _put(self, data: bytes, *, last: bool = False) -> None:
        if self._quiet and not last:
            return
        self._pending += data
        try:
            while self._pending and (went := self._writer.try_write(memoryview(self._pending))):
                self._pending = self._pending[went:]
        except OSError:
            self._quiet, self._pending = True, b""


def _encoded(text: str) -> bytes:
    return text.encode(sys.stderr.encoding, errors="backslashreplace")
