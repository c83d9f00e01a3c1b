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
        """Nothing is watched yet."""
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
