"""Make text of other programs (failure files, logs, object keys) safe for a terminal: without control sequences."""

import re

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""All control characters but TAB and newline, and those that turn the direction of what follows."""
_COLOURS = re.compile(r"\x1b\[[0-9;:]*m")


def printable(text: str) -> str:
    r"""Write control characters as escapes: `\x1b`, `\r`. Documents (`--json`) and the store have the original text."""
    return _CONTROLS.sub(_escape, text.replace("\r\n", "\n"))


def without_colours(text: str) -> str:
    """Remove the sequences that only colour text."""
    return _COLOURS.sub("", text)


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()
