"""Unix sockets in folders: the permissions of the folder say who may connect, and prove who listens."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

_LONGEST: Final = 100
"""Bytes of a path that every system takes; macOS takes no more than 103."""
_OPEN_FILES: Final = "/proc/self/fd"


@contextmanager
def listening_at(path: str) -> Iterator[socket.socket]:
    """A listening socket that is removed at the end, unless another one has its place by then."""
    with listen_at(path) as listener:
        made = os.lstat(path)
        try:
            yield listener
        finally:
            with suppress(OSError):
                if os.path.samestat(os.lstat(path), made):
                    os.unlink(path)


def listen_at(path: str, *, mode: int = 0o600, backlog: int = 1024) -> socket.socket:
    """A listening socket. It replaces what an earlier process has left at this path."""
    with suppress(FileNotFoundError):
        os.unlink(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with _short(path) as short:
            listener.bind(short)
            os.chmod(short, mode)
        listener.listen(backlog)
    except BaseException:
        listener.close()
        raise
    return listener


def connect_to(path: str, *, seconds: float) -> socket.socket:
    """A connection; `FileNotFoundError` or `ConnectionRefusedError` if nobody listens there."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        made.settimeout(seconds)
        with _short(path) as short:
            made.connect(short)
    except BaseException:
        made.close()
        raise
    return made


@contextmanager
def _short(path: str) -> Iterator[str]:
    """The path in a form that is short enough for a socket."""
    folder, name = os.path.split(path)
    if len(os.fsencode(path)) <= _LONGEST:
        yield path
    elif os.path.isdir(_OPEN_FILES):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield f"{_OPEN_FILES}/{descriptor}/{name}"
        finally:
            os.close(descriptor)
    else:
        from tempfile import TemporaryDirectory

        with TemporaryDirectory() as short:
            os.symlink(os.path.abspath(folder), f"{short}/to")
            yield f"{short}/to/{name}"
