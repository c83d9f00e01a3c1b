"""A file that one thread writes while others upload what has been written."""

import os
import sys
from collections.abc import Callable
from threading import Condition

from smlocal.sources.s3.retry import TICK, FetchCancelledError


class GrowingFile:
    """Open for reading, also after it was renamed; closed by the uploader."""

    def __init__(self, descriptor: int, *, most: int) -> None:
        """Start empty; `most` is the expected largest size."""
        self.descriptor = descriptor
        self.most = most
        self._size = 0
        self._ended = self._given_up = False
        self._changed = Condition()

    @classmethod
    def complete(cls, descriptor: int) -> "GrowingFile":
        """A file that is complete."""
        size = os.fstat(descriptor).st_size
        found = cls(descriptor, most=size)
        found.grow(size)
        found.end()
        return found

    def grow(self, size: int) -> None:
        """The first `size` bytes can be read now."""
        with self._changed:
            self._size = size
            self._changed.notify_all()

    def end(self) -> None:
        """The file is complete: the object may become visible."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def give_up(self) -> None:
        """The file will never be complete."""
        with self._changed:
            self._given_up = True
            self._changed.notify_all()

    def wait(self, size: int, cancelled: Callable[[], bool]) -> int:
        """Wait for `size` bytes or the end; returns the number of bytes. `FetchCancelledError` if it was given up."""
        with self._changed:
            while not self._given_up and self._size < size and not self._ended:
                if cancelled():
                    raise FetchCancelledError
                self._changed.wait(TICK)
            if self._given_up or cancelled():
                raise FetchCancelledError
            return self._size

    def wait_for_end(self, cancelled: Callable[[], bool]) -> int:
        """Wait until the file is complete; returns its size."""
        return self.wait(sys.maxsize, cancelled)

    def close(self) -> None:
        """Close the descriptor."""
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)
