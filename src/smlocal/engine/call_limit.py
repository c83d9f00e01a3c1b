"""The time limits of one call, and what is done while no bytes arrive."""

import math
import time
from collections.abc import Callable

_ROUNDING = 0.01
"""Seconds by which a timeout may come early."""


class SlowAnswerError(Exception):
    """A call has taken longer than its limit."""


class CallLimit:
    """Starts when it is made. The sender and receiver report progress, and it raises when a limit is reached."""

    __slots__ = ("_moved_at", "_quiet", "_still", "_total", "_until", "pause")

    def __init__(self, *, pause: float, total: float, quiet: float, still: Callable[[], None]) -> None:
        """After each `pause` without a byte, `still` is called, which raises to end the call."""
        self._total, self._quiet, self._still = total, quiet, still
        self._moved_at = time.monotonic()
        self._until = self._moved_at + total
        self.pause = min(pause, total, quiet)

    def lift(self) -> None:
        """The call has been answered, and a stream follows that may take any time."""
        self._until = self._quiet = math.inf

    def moved(self) -> None:
        """Bytes were sent or received."""
        self._moved_at = time.monotonic()
        if self._moved_at >= self._until:
            raise SlowAnswerError(f"no complete answer within {self._total:g} s")

    def silent(self) -> None:
        """No byte was sent or received for a pause."""
        now = time.monotonic() + _ROUNDING
        if now >= self._until:
            raise SlowAnswerError(f"no answer within {self._total:g} s")
        if now - self._moved_at >= self._quiet:
            raise SlowAnswerError(f"no data for {self._quiet:g} s")
        self._still()
