"""Write to a file descriptor without waiting for its reader, unless the caller wants to wait."""

import os
import select
import stat
from collections.abc import Callable
from threading import Lock

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
