"""The stop signal for the threads of one feed."""

import os
from select import select


class StoppedError(Exception):
    """The feed was stopped."""


class Stop:
    """Set once, from any thread; has a descriptor to poll together with others."""

    def __init__(self) -> None:
        self._descriptor = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._set = False

    def set(self) -> None:
        """Stop the feed."""
        self._set = True
        os.eventfd_write(self._descriptor, 1)

    @property
    def is_set(self) -> bool:
        """Whether the feed was stopped."""
        return self._set

    def check(self) -> None:
        """Raise `StoppedError` if the feed was stopped."""
        if self._set:
            raise StoppedError

    def wait(self, seconds: float) -> bool:
        """Wait for some time; False as soon as the feed is stopped."""
        return not select([self._descriptor], [], [], seconds)[0]

    def fileno(self) -> int:
        """A descriptor that becomes readable when the feed is stopped."""
        return self._descriptor

    def close(self) -> None:
        """Close the descriptor, when no thread polls it any more."""
        os.close(self._descriptor)
