"""Unix sockets in folders: the permissions of the folder say who may connect, and prove who listens."""

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from smlocal.base.at_use import at_use

if TYPE_CHECKING:
    import tempfile
else:
    tempfile = at_use("tempfile")

LONGEST: Final = 100
"""Bytes of a path that every system takes; macOS takes no more than 103."""
_SHORT: Final = "/tmp"  # noqa: S108 - for a folder of this user alone


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
    if len(os.fsencode(path)) <= LONGEST:
        yield path
    elif sys.platform == "linux" and os.path.isdir("/proc/self/fd"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield f"/proc/self/fd/{descriptor}/{name}"
        finally:
            os.close(descriptor)
    else:
        # The kernel counts the bytes of what it is given, and follows links.
        private = tempfile.mkdtemp(prefix="smlocal-", dir=_SHORT)
        link = f"{private}/s"
        try:
            os.symlink(os.path.abspath(folder), link)
            yield f"{link}/{name}"
        finally:
            with suppress(FileNotFoundError):
                os.unlink(link)
            os.rmdir(private)
