"""A limit to how long a regex may take over one line."""

import re
import signal
from types import FrameType, TracebackType
from typing import Final, Self

from smlocal.contract.metrics.values import OVERRUN_SECONDS

_TICK_SECONDS: Final = 0.01
_MOST_TICKS: Final = round(OVERRUN_SECONDS / _TICK_SECONDS)


class OverrunError(Exception):
    """The regex took too long over this line."""


class Guard:
    """Breaks searches off, in the main thread of a process that uses `ITIMER_VIRTUAL` for nothing else.

    Python's regex engine looks for signals in long matches. The time counted is the processor's: on a busy machine a
    search that had no processor is not blamed. One timer serves all searches, a system call for each would cost more
    than most of them take.
    """

    def __init__(self) -> None:
        """Nothing is watched yet."""
        self._searching = False
        self._ticks = 0

    def __enter__(self) -> Self:
        """Begin to count."""
        self._before = signal.signal(signal.SIGVTALRM, self._tick)
        signal.setitimer(signal.ITIMER_VIRTUAL, _TICK_SECONDS, _TICK_SECONDS)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Count no more."""
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, self._before)

    def search(self, pattern: re.Pattern[str], line: str) -> re.Match[str] | None:
        """Return the first match in a line; raises `OverrunError` when that takes too long."""
        self._ticks = 0
        self._searching = True
        found = pattern.search(line)
        self._searching = False
        return found

    def _tick(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if self._searching:
            self._ticks += 1
            # The first tick may come at once.
            if self._ticks > _MOST_TICKS:
                self._searching = False
                raise OverrunError
