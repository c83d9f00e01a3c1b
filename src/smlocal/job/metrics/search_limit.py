"""A limit to the time that a regex may take for one line."""

import re
import signal
from types import FrameType, TracebackType
from typing import Self

from smlocal.contract.metrics.metric_values import SEARCH_SECONDS


class SlowSearchError(Exception):
    """The regex took too long for this line."""


class SearchLimit:
    """Cancels searches, in the main thread of a process that does not use `ITIMER_VIRTUAL` for anything else.

    The timer counts processor time, so that a busy machine makes no search slow. Its signal is handled when Python's
    regex engine checks for signals: with some regexes rarely, and in some versions only at the end of the search.
    """

    def __init__(self) -> None:
        """No search is limited yet."""
        self._searching = False

    def __enter__(self) -> Self:
        """Handle the signal of the timer."""
        self._handler_before = signal.signal(signal.SIGVTALRM, self._time_is_over)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Stop the timer."""
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, self._handler_before)

    def search(self, pattern: re.Pattern[str], line: str) -> re.Match[str] | None:
        """The first match in a line; raises `SlowSearchError` if that takes too long."""
        # Started anew by each search, and not stopped after it: that would be one more system call for each.
        signal.setitimer(signal.ITIMER_VIRTUAL, SEARCH_SECONDS)
        self._searching = True
        found = pattern.search(line)
        self._searching = False
        return found

    def _time_is_over(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if self._searching:
            self._searching = False
            raise SlowSearchError
