"""How the threads of one feed are told that it is over."""

import os


class StoppedError(Exception):
    """The feed is to end."""


class Stop:
    """Set once, from any thread; whoever waits for something else as well polls its descriptor."""

    def __init__(self) -> None:
        self._descriptor = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._set = False

    def set(self) -> None:
        """Wake everybody."""
        self._set = True
        os.eventfd_write(self._descriptor, 1)

    @property
    def is_set(self) -> bool:
        """True when it is over."""
        return self._set

    def check(self) -> None:
        """Raise `StoppedError` if it is over."""
        if self._set:
            raise StoppedError

    def fileno(self) -> int:
        """Readable from the moment it is over."""
        return self._descriptor

    def close(self) -> None:
        """Only when nobody polls any more."""
        os.close(self._descriptor)
