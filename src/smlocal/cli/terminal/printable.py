"""Make text of other programs (failure files, logs, object keys) safe for a terminal and for the log of a CI service.

It has no control sequences then, and no line that a CI service would obey.
"""

import re

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""All control characters but TAB and newline, and those that turn the direction of what follows."""
_COLOURS = re.compile(r"\x1b\[[0-9;:]*m")
_COLOURS_AND_CONTROLS = re.compile(f"{_COLOURS.pattern}|{_CONTROLS.pattern}")
_WITHOUT_WIDTH = frozenset("\x00\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\ufeff").union(
    map(chr, range(0xFE00, 0xFE10))
)


def printable(text: str) -> str:
    r"""Write control characters as escapes: `\x1b`, `\r`. Documents (`--json`) and the store have the original text."""
    return without_commands(_CONTROLS.sub(_escape, text.replace("\r\n", "\n")))


def own_lines(text: str) -> str:
    """Lines of smlocal, in which text of others may stand: colours are the only control sequences that are left."""
    return without_commands(
        _COLOURS_AND_CONTROLS.sub(lambda found: found[0] if len(found[0]) > 1 else _escape(found), text)
    )


def without_commands(text: str) -> str:
    """Text without what a CI service would obey.

    Whether such a service reads it is not known: its variables are often missing where smlocal runs.
    """
    if "#" not in text and "::" not in text and (text.isascii() or _WITHOUT_WIDTH.isdisjoint(text)):
        return text
    from smlocal.ci.services import harmless  # hardly any text

    return harmless(text)


def json_without_commands(text: str) -> str:
    """The same JSON document without what a CI service would obey."""
    if "#" not in text:
        return text
    from smlocal.ci.services import harmless_json

    return harmless_json(text)


def without_colours(text: str) -> str:
    """Remove the sequences that only colour text."""
    return _COLOURS.sub("", text)


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()
