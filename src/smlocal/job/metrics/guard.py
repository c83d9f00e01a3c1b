"""A limit to how long a regex may take over one line."""

import re
import signal
import time
from types import FrameType, TracebackType
from typing import Final, Self

from smlocal.contract.metrics.values import OVERRUN_SECONDS

_TICK_SECONDS: Final = 0.01


class OverrunError(Exception):
    """The regex took too long over this line."""


class Guard:
    """Breaks searches off, in the main thread of a process that uses `ITIMER_VIRTUAL` for nothing else.

    Python's regex engine checks for signals in long matches; with some regexes rarely, and in some versions not at all.
    Several ticks then arrive as one, so the time since the last one counts. It is processor time: on a busy machine a
    search that had no processor is not blamed. One timer serves all searches, a system call for each would cost more
    than most of them take.
    """

    def __init__(self) -> None:
        """Nothing is watched yet."""
        self._searching = False
        self._used = 0.0
        self._ticked = 0.0

    def __enter__(self) -> Self:
        """Begin to count."""
        self._before = signal.signal(signal.SIGVTALRM, self._tick)
        self._ticked = time.process_time()
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
        self._used = -_TICK_SECONDS  # the first tick may come at once
        self._searching = True
        found = pattern.search(line)
        self._searching = False
        return found

    def _tick(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        now = time.process_time()
        since, self._ticked = now - self._ticked, now
        if self._searching:
            self._used += since
            if self._used > OVERRUN_SECONDS:
                self._searching = False
                raise OverrunError
