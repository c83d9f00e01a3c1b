"""What smlocal says on stderr, a line at a time, beside output of containers that may go to the same terminal.

Nothing here waits for a reader: the thread that supervises the job speaks, and it must be free to stop the job.
"""

import os
import sys
import time
from collections.abc import Callable
from threading import Lock

from smlocal.cli.terminal.output import Sink, same_place

_NEWLINE = 10
_WIPE = b"\r\033[K"
_UNREAD = 2.0
"""Once the job is to stop, somebody who has read nothing for this long is not waited for."""


class Talk:
    """Lines of ours, and the state of the line that the cursor stands on."""

    def __init__(self, *, output_to: int, quiet: bool) -> None:
        """`output_to` is where the containers' output goes; `quiet` says nothing at all."""
        descriptor = sys.stderr.fileno()
        self.terminal = descriptor if os.isatty(descriptor) and os.environ.get("TERM") != "dumb" else None
        self.lines_shown = 0
        """Of the containers' output, where that goes to the same place."""
        self.shared = same_place(descriptor, output_to)
        self.hurried: float | None = None
        """Since when the job is to stop, by the monotonic clock."""
        self._sink = Sink(descriptor)
        self._quiet = quiet
        self._lock = Lock()
        self._pending = b""
        self._line_open = False
        self._drawn = False
        self._lasting = False
        self._kept = False

    def say(self, line: str) -> None:
        """One line, as soon as there is room for it."""
        with self._lock:
            self._put(self._fresh_line() + _encoded(line) + b"\n")

    def draw(self, text: str, *, lasting: bool = False) -> None:
        """Put a line in place of the last one that was drawn; for a terminal. It gives way to everything else.

        The last state of a lasting one stays to be read, once.
        """
        with self._lock:
            if self._line_open or self._pending:
                return
            self._put(_WIPE + _encoded(text))
            self._drawn, self._lasting = True, lasting

    def after_key(self) -> None:
        """The terminal may just have shown `^C`: go on in a line of our own."""
        with self._lock:
            if self.terminal is not None:
                self._put(b"\n" if self._line_open else _WIPE)
                self._line_open = False

    def pass_on(self, sink: Sink, data: memoryview) -> int:
        """Write output of a container without waiting; the number of bytes that went."""
        with self._lock:
            if not self.shared:
                return sink.offer(data)
            if self._drawn:
                self._put(self._fresh_line())
            went = sink.offer(data)
            if went:
                self._line_open = data[went - 1] != _NEWLINE
                self.lines_shown += bytes(data[:went]).count(b"\n")
            return went

    def finish(self, text: str, before_waiting: Callable[[], None]) -> None:
        """Say the last words, and wait until they are read; not for long when the job was told to stop."""
        with self._lock:
            self._put(self._fresh_line() + (_encoded(text) + b"\n" if text else b""))
            last = time.monotonic()
            while self._pending and not self.given_up(last):
                before_waiting()
                self._sink.wait(0.2)
                before = len(self._pending)
                self._put(b"")
                last = time.monotonic() if len(self._pending) < before else last

    def given_up(self, last: float) -> bool:
        """True when somebody who last read at that time is not worth waiting for."""
        return self.hurried is not None and time.monotonic() - max(last, self.hurried) > _UNREAD

    def _fresh_line(self) -> bytes:
        """What brings the cursor to the start of an empty line."""
        if self._drawn:
            self._drawn = False
            if not self._lasting:
                return _WIPE
            kept, self._kept = self._kept, True
            return _WIPE if kept else b"\n"
        # A container's last line may have no end; ours starts on its own line all the same.
        start = b"\n" if self._line_open else b""
        self._line_open = False
        return start

    def _put(self, data: bytes) -> None:
        if self._quiet:
            return
        self._pending += data
        try:
            while self._pending and (went := self._sink.offer(memoryview(self._pending))):
                self._pending = self._pending[went:]
        except OSError:
            self._quiet, self._pending = True, b""


def _encoded(text: str) -> bytes:
    return text.encode(sys.stderr.encoding, errors="backslashreplace")
