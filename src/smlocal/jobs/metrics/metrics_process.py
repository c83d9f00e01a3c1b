"""The process that searches the logs of a job for metrics: `python -P -m smlocal.jobs.metrics.metrics_process`.

A regex may take any time, and Python runs nothing else in its process meanwhile. The first line of standard input is a
JSON document with the task. When standard input ends, this process reads the logs to their end and exits.
"""

import json
import re
import select
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import field
from types import FrameType, TracebackType
from typing import Any, Final, Self

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobs.logs.log_readers import LogReader
from smlocal.jobs.metrics.found_values import ValuesFile, write_state
from smlocal.terms.metrics import (
    MAX_LINE,
    MAX_SLOW_LINES,
    SEARCH_SECONDS,
    MetricPattern,
    TriedDefinition,
    compile_regex,
    number_in,
    required_text,
)

_MIN_PAUSE, _MAX_PAUSE = 0.05, 1.0
"""Seconds between two looks at the logs: longer the longer nothing is written."""
_STATE_SECONDS: Final = 1.0
_SHOWN = 80
"""Characters of a slow line that are kept for the note about it."""


@dataclass(kw_only=True, slots=True)
class MetricsProcess:
    """Reads all logs as they grow, and appends the values to a file."""

    directory: str
    searcher: "Searcher"
    logs: dict[str, LogReader]
    values: ValuesFile
    _state_written: float = field(default=0.0, init=False)

    def run(self) -> None:
        """Read until standard input ends, then to the end of the logs."""
        pause = _MIN_PAUSE
        while not select.select([sys.stdin], [], [], pause)[0]:
            pause = _MIN_PAUSE if self.read_new() else min(2 * pause, _MAX_PAUSE)
        self.read_new(last=True)
        self._write_state()

    def read_new(self, *, last: bool = False) -> bool:
        """Search the new lines. True if there was anything new."""
        before = self._positions()
        for host, log in enumerate(self.logs.values()):
            for lines, at in log.new_lines(last=last):
                for definition, value in self.searcher.values(lines):
                    self.values.add(definition, host, at, value)
                if time.monotonic() - self._state_written >= _STATE_SECONDS:
                    self._write_state()
        self.values.flush()
        return before != self._positions()

    def _positions(self) -> dict[str, int]:
        return {host: log.position for host, log in self.logs.items()}

    def _write_state(self) -> None:
        self.values.flush()
        if self.values.superseded:
            sys.exit()  # the supervisor has died, and that of its successor reads the logs from the start
        self._state_written = time.monotonic()
        slow = {str(search.index): search.slow_lines for search in self.searcher.searches if search.slow_lines}
        write_state(self.directory, {"Read": self._positions(), "SlowLines": slow})


def run_metrics_process(task: dict[str, Any]) -> None:
    """Carry out a task."""
    definitions = [MetricPattern(name=each["Name"], regex=each["Regex"]) for each in task["Definitions"]]
    with SearchLimit() as limit, closing(ValuesFile(task["Directory"])) as values:
        MetricsProcess(
            directory=task["Directory"],
            searcher=Searcher(definitions, limit),
            logs={host: LogReader(path) for host, path in task["Logs"].items()},
            values=values,
        ).run()


class SlowSearchError(Exception):
    """The regex took too long for this line."""


class SearchLimit:
    """Cancels searches, in the main thread of a process that does not use `ITIMER_VIRTUAL` for anything else.

    The timer counts processor time, so that a busy machine makes no search slow. Its signal is handled when Python's
    regex engine checks for signals: with some regexes rarely, and in some versions only at the end of the search.
    """

    def __init__(self) -> None:
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


@dataclass(kw_only=True, slots=True)
class MetricSearch:
    """One definition and the course of its search."""

    index: int
    """The index of the definition in the request."""
    pattern: re.Pattern[str]
    required: str
    """In every line that matches; empty if no such text is known."""
    slow_lines: list[str] = field(default_factory=list)
    """The first characters of the lines whose search was cancelled."""


class Searcher:
    """Finds values in lines as the service's log shows them. All lines end with a newline."""

    def __init__(self, definitions: Sequence[MetricPattern], limit: SearchLimit) -> None:
        """The definitions are valid."""
        self._limit = limit
        self.searches: list[MetricSearch] = []
        for index, each in enumerate(definitions):
            pattern = compile_regex(each.regex)
            self.searches.append(MetricSearch(index=index, pattern=pattern, required=required_text(pattern)))

    def values(self, lines: str) -> Iterator[tuple[int, float]]:
        """Every value with the index of its definition; those of one definition in the order of the lines."""
        for search in self.searches:
            for line in _lines_with(search.required, lines) if search.required else lines[:-1].split("\n"):
                if len(search.slow_lines) == MAX_SLOW_LINES:
                    break
                value = self._value(search, line[:MAX_LINE])
                if value is not None:
                    yield search.index, value

    def _value(self, search: MetricSearch, line: str) -> float | None:
        try:
            found = self._limit.search(search.pattern, line)
        except SlowSearchError:
            search.slow_lines.append(line[:_SHOWN])
            return None
        return None if found is None else number_in(found[1])


def _lines_with(text: str, lines: str) -> Iterator[str]:
    """The lines with this text, which are few. A million lines and eight regexes take 0.5 s so, and 14 s without it."""
    after = 0
    while (found := lines.find(text, after)) >= 0:
        start = lines.rfind("\n", after, found) + 1 or after
        after = lines.find("\n", found) + 1
        yield lines[start : after - 1]


def try_line(definitions: Sequence[MetricPattern], line: str) -> list[TriedDefinition]:
    """The result of each definition for a line. Call it in the main thread."""
    tried = []
    with SearchLimit() as limit:
        for each in definitions:
            try:
                found = limit.search(compile_regex(each.regex), line)
            except SlowSearchError:
                tried.append(TriedDefinition(name=each.name, slow=True))
                continue
            text = None if found is None else found[1]
            tried.append(TriedDefinition(name=each.name, value=number_in(text), text=text, found=found is not None))
    return tried


if __name__ == "__main__":
    run_metrics_process(json.loads(sys.stdin.buffer.readline()))
