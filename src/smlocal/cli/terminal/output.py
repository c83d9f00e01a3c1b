"""A file descriptor that is written to without ever being waited for, unless the caller wants to wait."""

import os
import select
import stat
from collections.abc import Callable
from threading import Lock

_PIECE = 4096
"""A pipe that has room at all has room for this much (PIPE_BUF): a write of it does not block."""
_LOOK = 1.0
_ONE_AT_A_TIME = Lock()
"""Two descriptors may lead to the same pipe: between the question and the write nobody else may fill it."""


class Sink:
    """Standard output or standard error of somebody who may have stopped reading."""

    def __init__(self, descriptor: int) -> None:
        """Nothing is changed about the descriptor: other processes share its flags."""
        self._descriptor = descriptor
        self._never_full = stat.S_ISREG(os.fstat(descriptor).st_mode)
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLOUT)

    def offer(self, data: memoryview) -> int:
        """Write what goes without waiting; the number of bytes. An OSError when the reader is gone."""
        if self._never_full:
            return os.write(self._descriptor, data)
        with _ONE_AT_A_TIME:
            if not self._poll.poll(0):
                return 0
            return os.write(self._descriptor, data[:_PIECE])

    def write(self, data: bytes, before_waiting: Callable[[], None]) -> None:
        """Write all of it, however long that takes."""
        view = memoryview(data)
        while view:
            if went := self.offer(view):
                view = view[went:]
            else:
                before_waiting()
                self.wait(_LOOK)

    def wait(self, seconds: float) -> None:
        """Until there may be room."""
        poll = select.poll()
        poll.register(self._descriptor, select.POLLOUT)
        poll.poll(seconds * 1000)


def same_place(one: int, other: int) -> bool:
    """True when two descriptors lead to the same terminal, pipe or file."""
    first, second = os.fstat(one), os.fstat(other)
    return (first.st_dev, first.st_ino) == (second.st_dev, second.st_ino)
