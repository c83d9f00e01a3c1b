"""Events from the kernel about changes in folders: the part of inotify that the mirror uses."""

import ctypes
import errno
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

MODIFY: Final = 0x2
CLOSE_WRITE: Final = 0x8
MOVED_FROM: Final = 0x40
MOVED_TO: Final = 0x80
CREATE: Final = 0x100
DELETE: Final = 0x200
DELETE_SELF: Final = 0x400
MOVE_SELF: Final = 0x800
OVERFLOW: Final = 0x4000
IGNORED: Final = 0x8000
IS_FOLDER: Final = 0x40000000
_ONLY_FOLDERS = 0x1000000
_HEADER = struct.Struct("iIII")
_READ = 1 << 18


@dataclass(frozen=True, slots=True)
class Event:
    """A change in a watched folder, or of the folder itself."""

    watch: int
    mask: int
    name: bytes
    """The name in the folder; empty for an event about the folder itself."""


class Inotify:
    """A queue of events. `OSError` if the user may not watch more folders (ENOSPC) or have more queues (EMFILE)."""

    def __init__(self) -> None:
        if not hasattr(_libc(), "inotify_init1"):
            raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
        self.descriptor = _checked(_libc().inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))

    def add(self, folder: int, mask: int) -> int:
        """Watch an open folder; returns its number, which is the same for every path of the folder."""
        # By its descriptor, because another folder may have its name by now.
        path = b"/proc/self/fd/%d" % folder
        return _checked(_libc().inotify_add_watch(self.descriptor, path, mask | _ONLY_FOLDERS))

    def remove(self, watch: int) -> None:
        """Stop watching a folder."""
        _libc().inotify_rm_watch(self.descriptor, watch)

    def read(self) -> Iterator[Event]:
        """All new events; does not wait."""
        while True:
            try:
                data = os.read(self.descriptor, _READ)
            except BlockingIOError:
                return
            start = 0
            while start < len(data):
                watch, mask, _, size = _HEADER.unpack_from(data, start)
                start += _HEADER.size
                yield Event(watch, mask, data[start : start + size].rstrip(b"\0"))
                start += size

    def close(self) -> None:
        """Close the queue."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


@cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "inotify_init1"):
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    libc.inotify_add_watch.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32)
    return libc


def _checked(answer: int) -> int:
    if answer < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return answer


# The watched folders of all hosts of a job, and their current paths.

_NOT_AVAILABLE = {errno.ENOSPC, errno.EMFILE, errno.ENFILE, errno.ENOSYS, errno.ENOMEM, errno.EACCES}


class Watches:
    """Watched folders by the numbers that the kernel gives them."""

    def __init__(self, mask: int) -> None:
        """`mask` selects the events."""
        self._mask = mask
        self._folders: dict[int, tuple[str, bytes]] = {}
        self._inotify: Inotify | None = None
        try:
            self._inotify = Inotify()
        except OSError as error:
            if error.errno not in _NOT_AVAILABLE:
                raise

    @property
    def descriptor(self) -> int | None:
        """Readable when there are events; None if nothing can be watched."""
        return None if self._inotify is None else self._inotify.descriptor

    def add(self, host: str, path: bytes, folder: int) -> bool:
        """Watch an open folder; False if this user may not watch more folders."""
        if self._inotify is None:
            return False
        try:
            number = self._inotify.add(folder, self._mask)
        except OSError as error:
            if error.errno not in _NOT_AVAILABLE:
                raise
            return False
        self._folders[number] = (host, path)  # a folder that was moved has the same number and gets its new path
        return True

    def remove(self, host: str, top: bytes) -> None:
        """Stop watching the folder `top` and those below it; all folders of the host if `top` is empty."""
        below = top + b"/"
        for number, (each, path) in list(self._folders.items()):
            if each == host and (not top or path == top or path.startswith(below)):
                del self._folders[number]
                if self._inotify is not None:
                    self._inotify.remove(number)

    def read(self) -> Iterator[tuple[str | None, bytes, Event]]:
        """New events with their host and folder; the host is None if events were lost."""
        if self._inotify is None:
            return
        for event in self._inotify.read():
            if event.mask & OVERFLOW:
                yield None, b"", event
            elif event.mask & IGNORED:
                self._folders.pop(event.watch, None)
            elif event.watch in self._folders:
                host, path = self._folders[event.watch]
                yield host, path, event

    def close(self) -> None:
        """Stop watching."""
        self._folders.clear()
        if self._inotify is not None:
            self._inotify.close()
