"""Connects the standard streams of this process with those of a process in a container."""

import os
import select
import signal
import socket
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING

from smlocal.cli.terminal.standard_streams import output_errors

if TYPE_CHECKING:
    from smlocal.engine.interface import ProcessStreams

_ERRORS = 2
"""The number of standard error."""
_PIECE = 64 * 1024
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class SignalledError(BaseException):
    """A signal that ends the command, once everything has been put back."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def raised_signals() -> Iterator[None]:
    """Raise the first signal that ends a process; further ones do not disturb the cleaning up."""

    def end(number: int, frame: "FrameType | None") -> None:
        del frame
        for each in handled:
            signal.signal(each, signal.SIG_IGN)
        raise SignalledError(number)

    handled = [each for each in _ENDING if signal.getsignal(each) is not signal.SIG_IGN]
    before = {each: signal.signal(each, end) for each in handled}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def has_terminal() -> bool:
    """True if a person types and reads at a terminal."""
    return os.isatty(sys.stdin.fileno()) and os.isatty(sys.stdout.fileno())


def connect_streams(streams: "ProcessStreams", *, terminal: bool) -> None:
    """Carry bytes both ways until the process has closed its streams.

    With `terminal`, each key goes to the process, Ctrl-C too, and the process learns the size of the terminal.
    """
    keys = sys.stdin.fileno()
    if not terminal:
        _carry(streams, keys, None)
        return
    with _raw(keys), size_changes() as changes:
        _carry(streams, keys, changes)


def _carry(streams: "ProcessStreams", keys: int, changes: socket.socket | None) -> None:
    poll = select.poll()
    typed = b""
    more = True
    if changes is not None:
        poll.register(changes, select.POLLIN)
        _tell_size(streams)
    while True:
        poll.register(streams, select.POLLIN | (select.POLLOUT if typed else 0))
        if more and not typed:
            poll.register(keys, select.POLLIN)
        ready = dict(poll.poll())
        if changes is not None and changes.fileno() in ready:
            changes.recv(_PIECE)
            _tell_size(streams)
        if keys in ready:
            typed = _read(keys)
            more = bool(typed)
            poll.unregister(keys)
            if not more:
                streams.end_input()
        if typed:
            typed = typed[streams.write(typed) :]
        if ready.get(streams.fileno(), 0) & ~select.POLLOUT and not _show(streams):
            return


def _show(streams: "ProcessStreams") -> bool:
    """Write what has arrived; False at the end."""
    pieces = streams.read()
    for number, data in pieces or ():
        _write((sys.stderr if number == _ERRORS else sys.stdout).fileno(), data)
    return pieces is not None


def _read(descriptor: int) -> bytes:
    """Nothing at the end of the input, and if it is not this process's turn to read from the terminal."""
    try:
        return os.read(descriptor, _PIECE)
    except OSError:
        return b""


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    with output_errors():
        while view:
            try:
                view = view[os.write(descriptor, view) :]
            except BlockingIOError:
                select.select([], [descriptor], [])


def _tell_size(streams: "ProcessStreams") -> None:
    with suppress(OSError):
        size = os.get_terminal_size(sys.stdout.fileno())
        if size.lines and size.columns:
            streams.resize(size.lines, size.columns)


@contextmanager
def _raw(descriptor: int) -> Iterator[None]:
    before = termios.tcgetattr(descriptor)
    # What was typed while the container started is kept.
    tty.setraw(descriptor, termios.TCSANOW)
    try:
        yield
    finally:
        with suppress(termios.error):  # the terminal is gone
            termios.tcsetattr(descriptor, termios.TCSANOW, before)


@contextmanager
def size_changes() -> Iterator[socket.socket]:
    """A socket that can be read when the size of the terminal has changed."""
    ours, signals = socket.socketpair()
    with ours, signals:
        signals.setblocking(False)
        handler = signal.signal(signal.SIGWINCH, lambda _, __: None)
        wakeup = signal.set_wakeup_fd(signals.fileno(), warn_on_full_buffer=False)
        try:
            yield ours
        finally:
            signal.set_wakeup_fd(wakeup)
            signal.signal(signal.SIGWINCH, handler)
