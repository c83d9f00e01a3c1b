"""The limits of one call: how long it may take as a whole, and what is done while nothing comes."""

import time
from collections.abc import Callable

_ROUNDING = 0.01
"""Seconds by which a timeout may be early."""


class SlowAnswerError(Exception):
    """A call has taken longer than it may."""


class CallLimit:
    """Counts from its making. Whoever sends and receives tells it what happens, and it raises when that is too much."""

    __slots__ = ("_moved_at", "_quiet", "_still", "_total", "_until", "pause")

    def __init__(self, *, pause: float, total: float, quiet: float, still: Callable[[], None]) -> None:
        """After each `pause` without a byte `still` is called, which raises if there is nothing to wait for."""
        self._total, self._quiet, self._still = total, quiet, still
        self._moved_at = time.monotonic()
        self._until = self._moved_at + total
        self.pause = min(pause, total, quiet)

    def moved(self) -> None:
        """Bytes came or went: slowly is not enough."""
        self._moved_at = time.monotonic()
        if self._moved_at >= self._until:
            raise SlowAnswerError(f"no complete answer within {self._total:g} s")

    def silent(self) -> None:
        """Nothing came or went for a pause."""
        now = time.monotonic() + _ROUNDING
        if now >= self._until:
            raise SlowAnswerError(f"no answer within {self._total:g} s")
        if now - self._moved_at >= self._quiet:
            raise SlowAnswerError(f"no data for {self._quiet:g} s")
        self._still()
