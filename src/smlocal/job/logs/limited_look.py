"""Reads the engine's log of a container for a limited time: a container may have written any number of lines."""

import time
from collections.abc import Callable, Iterable, Iterator

from smlocal.quick_dataclass import dataclass

_LINES = 256
"""So many are read between two looks at the clock."""


class LookEndedError(Exception):
    """The time is up, and not all of the log has been read."""


@dataclass(kw_only=True, slots=True)
class LimitedLook:
    """One look, and what it has left out."""

    limit: Callable[[], float]
    """Gives the seconds that it may take; they may become fewer meanwhile."""
    lines: int = 0
    size: int = 0
    seconds: float = 0.0

    def pieces(self, log: Iterable[tuple[float | None, bytes]]) -> Iterator[tuple[float | None, bytes]]:
        """Yield what is in the log; `LookEndedError` when the time is up."""
        began = time.monotonic()
        for at, piece in log:
            if self.lines % _LINES == 0:
                self.seconds = time.monotonic() - began
                if self.seconds >= self.limit():
                    raise LookEndedError
            self.lines += 1
            self.size += len(piece)
            yield at, piece

    @property
    def left_out(self) -> str:
        """What has not been read, as a sentence."""
        return (
            f"the engine's log was read for {self.seconds:.0f} s, to line {self.lines:,} (byte {self.size:,}); "
            "lines after that may be missing"
        )
