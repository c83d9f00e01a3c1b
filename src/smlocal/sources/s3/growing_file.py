"""A file that one thread writes while others read what is there of it."""

import os
from collections.abc import Callable
from threading import Condition

from smlocal.sources.s3.retry import TICK, FetchCancelledError


class GrowingFile:
    """Open for reading, whatever its name is by then; closed by whoever uploads it."""

    def __init__(self, descriptor: int, *, most: int) -> None:
        """An empty one; `most` is how large it may become, as far as anybody knows."""
        self.descriptor = descriptor
        self.most = most
        self._size = 0
        self._ended = self._given_up = False
        self._changed = Condition()

    @classmethod
    def whole(cls, descriptor: int) -> "GrowingFile":
        """One that is complete."""
        size = os.fstat(descriptor).st_size
        found = cls(descriptor, most=size)
        found.grow(size)
        found.end()
        return found

    def grow(self, size: int) -> None:
        """By now the first `size` bytes can be read."""
        with self._changed:
            self._size = size
            self._changed.notify_all()

    def end(self) -> None:
        """It is whole: from now on it may be shown to others."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def give_up(self) -> None:
        """It will never be whole."""
        with self._changed:
            self._given_up = True
            self._changed.notify_all()

    def wait(self, size: int, cancelled: Callable[[], bool]) -> int:
        """How many bytes there are, once there are `size` or it has ended; `FetchCancelledError` when it never will."""
        with self._changed:
            while not self._given_up and self._size < size and not self._ended:
                if cancelled():
                    raise FetchCancelledError
                self._changed.wait(TICK)
            if self._given_up or cancelled():
                raise FetchCancelledError
            return self._size

    def wait_for_end(self, cancelled: Callable[[], bool]) -> int:
        """Its size, once it has one."""
        with self._changed:
            while not self._given_up and not self._ended:
                if cancelled():
                    raise FetchCancelledError
                self._changed.wait(TICK)
            if self._given_up or cancelled():
                raise FetchCancelledError
            return self._size

    def close(self) -> None:
        """Nobody reads it any more."""
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)
