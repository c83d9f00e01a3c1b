"""Shows what is longer than the screen in a pager, on a terminal."""

import io
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from smlocal.cli.terminal.layout import columns_of_text
from smlocal.cli.terminal.printable import without_colours
from smlocal.cli.terminal.standard_streams import ReaderGoneError, output_errors

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

PAGER_VARIABLE = "SMLOCAL_PAGER"
_DEFAULT = "less"
_LESS = "FRX"
"""It ends where all fits the screen, shows colours, and leaves the text on the screen."""


def pages(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --no-pager to a command; without it, long output of the command goes to a pager."""

    @wraps(command)
    def paging(*arguments: Any, no_pager: bool, **given: Any) -> Any:
        with paged(wanted=not no_pager):
            return command(*arguments, **given)

    add = click.option("--no-pager", is_flag=True, help="Do not show long output in a pager.")
    return add(paging)


@contextmanager
def paged(*, wanted: bool = True) -> Iterator[bool]:
    """Take what is printed in this block. True if it may go to a pager: file descriptors must not be written then."""
    context = click.get_current_context(silent=True)
    nowhere = context is not None and bool((context.obj or {}).get("no_pager"))  # behind smlocal itself
    words = _pager() if wanted and not nowhere else []
    if not words:
        yield False
        return
    before, pager = sys.stdout, _Pager(words, sys.stdout.fileno())
    sys.stdout.flush()
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(pager), encoding=before.encoding, errors="backslashreplace", line_buffering=True
    )
    try:
        yield True
        sys.stdout.flush()
    finally:
        with suppress(ReaderGoneError):
            sys.stdout.flush()
        sys.stdout = before
        pager.finish()


def _pager() -> list[str]:
    """The words of the command; none if no pager is to be used."""
    if not sys.stdout.isatty() or os.environ.get("TERM", "dumb") == "dumb":
        return []
    if not os.get_terminal_size(sys.stdout.fileno()).lines:
        return []

    text = os.environ.get(PAGER_VARIABLE, os.environ.get("PAGER", _DEFAULT))
    try:
        words = shlex.split(text)
    except ValueError:
        return []
    return [] if words == ["cat"] else words


class _Pager(io.RawIOBase):
    """Keeps what is written until it is longer than the screen, and starts the pager then."""

    def __init__(self, words: list[str], terminal: int) -> None:
        self._words = words
        self._terminal = terminal
        self._size = os.get_terminal_size(terminal)
        self._kept = b""
        self._process: subprocess.Popen[bytes] | None = None
        self._passes = False
        """True where there is no pager, and from when its reader is gone."""
        self._gone = False

    def fileno(self) -> int:
        """Of the terminal, whose width is asked for."""
        return self._terminal

    def isatty(self) -> bool:
        """What is written ends on one."""
        return True

    def writable(self) -> bool:
        """As a stream says it."""
        return True

    def write(self, data: "ReadableBuffer", /) -> int:
        """Take bytes; `ReaderGoneError` once the pager has been left."""
        piece = bytes(data)
        if self._process is None and not self._passes:
            self._kept += piece
            if not self._fits():
                self._start()
                piece, self._kept = self._kept, b""
                self._send(piece)
        else:
            self._send(piece)
        return memoryview(data).nbytes

    def finish(self) -> None:
        """Print what was shorter than the screen, or wait until the pager is left. It gets Ctrl-C for itself."""
        if self._process is None:
            self._passes = True
            self._send(self._kept)
            return
        assert self._process.stdin is not None  # noqa: S101 - for mypy
        handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            with suppress(BrokenPipeError):
                self._process.stdin.close()
            self._process.wait()  # a person reads, for as long as they like
        finally:
            signal.signal(signal.SIGINT, handler)

    def _fits(self) -> bool:
        """True if a prompt has a place below the text."""
        lines = self._kept.count(b"\n")
        if lines >= self._size.lines:
            return False
        if len(self._kept) < self._size.columns:
            return True
        text = without_colours(self._kept.decode(errors="replace")).expandtabs()
        rows = sum(max(1, -(-columns_of_text(line) // max(1, self._size.columns))) for line in text.split("\n"))
        return rows <= self._size.lines

    def _start(self) -> None:
        environment = {**os.environ, "LESS": os.environ.get("LESS", _LESS)}
        try:
            self._process = subprocess.Popen(self._words, stdin=subprocess.PIPE, env=environment)
        except OSError:
            self._passes = True

    def _send(self, data: bytes) -> None:
        if self._gone:
            return
        if self._process is None:
            view = memoryview(data)
            with output_errors():
                while view:
                    view = view[os.write(self._terminal, view) :]
            return
        assert self._process.stdin is not None  # noqa: S101 - for mypy
        try:
            self._process.stdin.write(data)
            self._process.stdin.flush()
        except BrokenPipeError as error:
            self._gone = True
            raise ReaderGoneError from error
