"""All definitions of a job on the lines of its logs, as fast as lines go by that hold no value."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Final

from smlocal.contract.metrics.regex import compile_regex, required_text
from smlocal.contract.metrics.values import LONGEST_LINE, MOST_OVERRUNS, MetricDefinition, Tried, number_in
from smlocal.job.metrics.guard import Guard, OverrunError
from smlocal.quick_dataclass import dataclass

_COMMON: Final = " etaoinsrhldcumfpgwybvkxjqz0123456789.,-_:/()'\"[]="
"""Characters of logs, the most frequent ones first; all others are rare."""
_FEW: Final = 256
"""Characters to each that is cut out for."""


@dataclass(kw_only=True, slots=True)
class Search:
    """One definition at work."""

    index: int
    """Its place among the definitions of the request."""
    pattern: re.Pattern[str]
    required: str
    """In every line that matches; empty where nothing is known."""
    rare: str
    """The character of it that other lines are the least likely to have."""
    overruns: list[str] = field(default_factory=list)
    """How the lines begin on which it was broken off."""

    @property
    def off(self) -> bool:
        """True once it has been broken off too often."""
        return len(self.overruns) >= MOST_OVERRUNS


class Searcher:
    """Finds values. Lines are whole, in the service's view, and all that are handed in together end with a newline."""

    def __init__(self, definitions: Sequence[MetricDefinition], guard: Guard) -> None:
        """Compile the definitions; they are valid ones."""
        self._guard = guard
        self.searches: list[Search] = []
        for index, each in enumerate(definitions):
            pattern = compile_regex(each.regex)
            required = required_text(pattern)
            rare = max(required, key=_rarity, default="")
            self.searches.append(Search(index=index, pattern=pattern, required=required, rare=rare))

    def values(self, lines: str) -> Iterator[tuple[int, float]]:
        """Every value, as the index of its definition and itself; of one definition in the order of the lines."""
        # Definitions have much in common, such as `=`: lines without that are passed over once for all of them.
        narrowed = {rare: _narrowed(lines, rare) for rare in {search.rare for search in self.searches} if rare}
        for search in self.searches:
            if search.required:
                candidates = _holding(search.required, narrowed[search.rare])
            else:
                candidates = iter(lines[:-1].split("\n"))
            for line in candidates:
                if search.off:
                    break
                value = self._value(search, line)
                if value is not None:
                    yield search.index, value

    def _value(self, search: Search, line: str) -> float | None:
        if len(line) > LONGEST_LINE:
            line = line[:LONGEST_LINE]
        try:
            found = self._guard.search(search.pattern, line)
        except OverrunError:
            search.overruns.append(line[:80])
            return None
        return None if found is None else number_in(found[1])


def _rarity(character: str) -> int:
    place = _COMMON.find(character.lower())
    return place if place >= 0 else len(_COMMON)


def _narrowed(lines: str, character: str) -> str:
    """The lines that have a character in them, or all where those are many: to look for it is fast, to cut is not."""
    found = lines.count(character)
    if not found or found * _FEW > len(lines):
        return lines if found else ""
    return "".join(f"{line}\n" for line in _holding(character, lines))


def _holding(text: str, lines: str) -> Iterator[str]:
    """The lines that have a text in them."""
    find, after = lines.find, 0
    while (hit := find(text, after)) >= 0:
        start = lines.rfind("\n", after, hit) + 1 or after
        after = find("\n", hit) + 1
        if not after:  # the text spans lines: it cannot be in one
            return
        yield lines[start : after - 1]


def try_line(definitions: Sequence[MetricDefinition], line: str) -> list[Tried]:
    """What each definition takes from a line; for the main thread, which `plan` has to itself."""
    tried = []
    with Guard() as guard:
        for each in definitions:
            try:
                found = guard.search(compile_regex(each.regex), line)
            except OverrunError:
                tried.append(Tried(name=each.name, slow=True))
                continue
            text = None if found is None else found[1]
            tried.append(Tried(name=each.name, value=number_in(text), text=text, found=found is not None))
    return tried
