"""Searches the lines of logs for the values of metrics."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import field

from smlocal.contract.metrics.metric_values import (
    MAX_LINE,
    MAX_SLOW_LINES,
    MetricDefinition,
    TriedDefinition,
    number_in,
)
from smlocal.contract.metrics.regex import compile_regex, required_text
from smlocal.job.metrics.search_limit import SearchLimit, SlowSearchError
from smlocal.quick_dataclass import dataclass

_SHOWN = 80
"""Characters of a slow line that are kept for the note about it."""


@dataclass(kw_only=True, slots=True)
class Search:
    """One definition and what happened with it."""

    index: int
    """Of the definition in the request."""
    pattern: re.Pattern[str]
    required: str
    """In every line that matches; empty if no such text is known."""
    slow_lines: list[str] = field(default_factory=list)
    """The first characters of the lines whose search was cancelled."""


class Searcher:
    """Finds values in lines as the service's log shows them. All lines end with a newline."""

    def __init__(self, definitions: Sequence[MetricDefinition], limit: SearchLimit) -> None:
        """The definitions are valid."""
        self._limit = limit
        self.searches: list[Search] = []
        for index, each in enumerate(definitions):
            pattern = compile_regex(each.regex)
            self.searches.append(Search(index=index, pattern=pattern, required=required_text(pattern)))

    def values(self, lines: str) -> Iterator[tuple[int, float]]:
        """Every value with the index of its definition; those of one definition in the order of the lines."""
        for search in self.searches:
            for line in _lines_with(search.required, lines) if search.required else lines[:-1].split("\n"):
                if len(search.slow_lines) == MAX_SLOW_LINES:
                    break
                value = self._value(search, line[:MAX_LINE])
                if value is not None:
                    yield search.index, value

    def _value(self, search: Search, line: str) -> float | None:
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


def try_line(definitions: Sequence[MetricDefinition], line: str) -> list[TriedDefinition]:
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
