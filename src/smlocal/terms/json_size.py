"""JSON as text: as services write it, and how large one is before it is parsed.

A parser can make a hundred bytes of objects of one byte.
"""

import json
import re
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass

MOST_PARTS: Final = 20_000
"""Values of a request, in lists and maps of any depth. The largest valid one has less than half as many."""
_NEXT: Final = r'(?s:[^"\[\]{},]++|"[^"\\]*+(?:\\.[^"\\]*+)*+"?)*+([\[\]{},])'
"""Up to the next bracket or comma that is not in a string. Not compiled here: few texts are large."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TooLarge:
    """Where a text exceeds a limit, and which."""

    at: int
    """The position of the character."""
    deep: bool
    """True if it is nested too deeply; else it has too many parts."""


def too_large(text: str, *, parts: int, levels: int) -> TooLarge | None:
    """Where a text has more brackets and commas than `parts`, or more levels; None if it does not, or is not JSON.

    A value has a bracket or a comma of its own, so a text with `parts` of both has no more values than that.
    """
    opened = text.count("[") + text.count("{")
    if opened <= levels and opened + text.count(",") <= parts:
        return None  # nearly always; those in strings are counted too
    depth = number = 0
    for found in re.finditer(_NEXT, text):
        mark = found[1]
        if mark in "]}":
            depth -= 1
            if depth <= 0:
                break  # the rest is not JSON
            continue
        number += 1
        depth += mark != ","
        if number > parts or depth > levels:
            return TooLarge(at=found.end() - 1, deep=depth > levels)
    return None


# JSON as services write it.


def compact(document: Any) -> bytes:
    """JSON without spaces and without escapes for letters."""
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode("utf-8", errors="surrogatepass")
