"""A program in a terminal of any size, and what a person sees there."""

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyte

_SECONDS = 200.0
"""Enough for a busy machine."""


class Screen(pyte.HistoryScreen):
    """pyte knows no faint text: it is shown as italics, which smlocal does not use."""

    def select_graphic_rendition(self, *attributes: int, **more: Any) -> None:
        """Take SGR 2 for 3."""
        super().select_graphic_rendition(*(3 if each == 2 else each for each in attributes), **more)


class Terminal:
    """Runs a program in a pseudo-terminal, and shows its output as a terminal would."""

    def __init__(self, *, columns: int, rows: int = 24) -> None:
        self.screen = Screen(columns, rows, history=10_000, ratio=0.5)
        self.raw = b""
        self._stream = pyte.ByteStream(self.screen)
        self._child = 0
        self._descriptor = -1
        self.exit_code: int | None = None

    def start(self, command: Sequence[str], *, cwd: str, environment: Mapping[str, str]) -> None:
        # A test runner's facts about its own terminal are not true of this one.
        environment = {name: value for name, value in environment.items() if name not in {"COLUMNS", "LINES"}}
        ready, go = os.pipe()
        self._child, self._descriptor = pty.fork()
        if self._child == 0:  # pragma: no cover - another process
            os.read(ready, 1)
            os.chdir(cwd)
            os.execve(command[0], list(command), dict(environment))
        self._set_size()
        os.write(go, b"x")
        os.close(go)
        os.close(ready)

    def resize(self, *, columns: int) -> None:
        self.screen.resize(self.screen.lines, columns)
        self._set_size()

    def type(self, keys: bytes) -> None:
        os.write(self._descriptor, keys)

    def until(self, condition: Callable[[], bool], *, seconds: float = _SECONDS, ended: bool = False) -> None:
        """Show what the program prints until the condition is true, which the end of the program may bring about."""
        deadline = time.monotonic() + seconds
        while not condition():
            if (self.exit_code is not None and not ended) or time.monotonic() > deadline:
                raise AssertionError("\n".join(self.all_lines()))
            self._read(0.1)

    def end(self, *, seconds: float = _SECONDS) -> int:
        deadline = time.monotonic() + seconds
        while self.exit_code is None:
            if time.monotonic() > deadline:
                os.kill(self._child, signal.SIGKILL)
                raise AssertionError("no end:\n" + "\n".join(self.all_lines()))
            self._read(0.1)
        os.close(self._descriptor)
        return self.exit_code

    @property
    def lines(self) -> list[str]:
        """The rows that can be seen, without empty ones at the end."""
        return "\n".join(row.rstrip() for row in self.screen.display).rstrip().split("\n")

    def all_lines(self) -> list[str]:
        """With those that have been scrolled away."""
        width = self.screen.columns
        past = ["".join(row[column].data for column in range(width)).rstrip() for row in self.screen.history.top]
        return past + self.lines

    def _set_size(self) -> None:
        size = struct.pack("HHHH", self.screen.lines, self.screen.columns, 0, 0)
        fcntl.ioctl(self._descriptor, termios.TIOCSWINSZ, size)

    def _read(self, seconds: float) -> None:
        if not select.select([self._descriptor], [], [], seconds)[0]:
            return
        try:
            piece = os.read(self._descriptor, 65536)
        except OSError:  # what Linux says when the last process has closed it
            piece = b""
        if piece:
            self.raw += piece
            self._stream.feed(piece)
        else:
            _, status = os.waitpid(self._child, 0)
            self.exit_code = os.waitstatus_to_exitcode(status)
