"""The differences of two records of conformance, on a screen and for programs."""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

from smlocal.cli.terminal.layout import width_of, wrapped
from smlocal.service.conformance.differences import ABSENT, DocumentComparison, DocumentDifference, compare
from smlocal.service.conformance.reading import read

_INDENT = 7
_MOST_LETTERS = 400
"""Of a value. With --json it is complete."""


def compared(first: str, second: str, *, version: str) -> DocumentComparison:
    """Two records, jobs, or what `smlocal conformance collect` takes."""
    return compare(read(first, version=version), read(second, version=version))


def difference_lines(found: DocumentComparison, *, everything: bool) -> Iterator[str]:
    """By group: each place, its two values, and where that is so."""
    shown = [*found.differences, *(found.expected if everything else ())]
    for group in dict.fromkeys(each.group for each in shown):
        yield group
        for each in shown:
            if each.group == group:
                yield from _lines(each)


def _lines(each: DocumentDifference) -> Iterator[str]:
    rule = f"  [{each.rule}]" if each.rule else ""
    if each.path:
        yield f"  {each.path}{rule}"
    for name, value in (("A", each.first), ("B", each.second)):
        text = "\n".join(wrapped(_shown(value), indent=_INDENT, width=width_of(sys.stdout)))
        yield f"    {name}  {text}"
    yield f"       in {', '.join(each.where)}"


def _shown(value: Any) -> str:
    if value is ABSENT:
        return "(absent)"
    plain = isinstance(value, str) and value.isprintable() and value
    text = value if plain else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]}… ({len(text)} characters)"


def conclusion(found: DocumentComparison, first: str, second: str) -> str:
    """How many there are, and what was not compared."""
    groups = len({each.group for each in found.differences})
    count = len(found.differences)
    text = (
        f"{count} difference{'s' * (count != 1)} in {groups} group{'s' * (groups != 1)}" if count else "no difference"
    )
    text = f"A: {first}, B: {second}: {text}"
    if found.expected:
        rules = Counter(each.rule for each in found.expected)
        text += f"; left out as expected: {', '.join(f'{rule} {number}' for rule, number in rules.most_common())}"
    for name, cases in (("A", found.only_first), ("B", found.only_second)):
        if cases:
            text += f"; only in {name}, not compared: {', '.join(cases)}"
    return text


def difference_document(found: DocumentComparison, first: str, second: str) -> dict[str, Any]:
    """The same for programs."""
    return {
        "Conformance": {
            "A": first,
            "B": second,
            "Differences": [_document(each) for each in found.differences],
            "Expected": [{**_document(each), "Rule": each.rule} for each in found.expected],
            "OnlyInA": [*found.only_first],
            "OnlyInB": [*found.only_second],
        }
    }


def _document(each: DocumentDifference) -> dict[str, Any]:
    """A value that is absent has no member."""
    values = {"A": each.first, "B": each.second}
    return {
        "Group": each.group,
        "Path": each.path,
        **{name: value for name, value in values.items() if value is not ABSENT},
        "Where": [*each.where],
    }
