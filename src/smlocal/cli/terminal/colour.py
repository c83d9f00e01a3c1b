"""Colours. Everything can be understood without them."""

import os
import sys
from typing import TextIO

RED = "31"
GREEN = "32"
YELLOW = "33"
FAINT = "2"
BOLD = "1"


def paint(text: str, colour: str, stream: TextIO | None = None) -> str:
    """Colour a text for a stream, by default stderr, if it is to have colours."""
    return f"\033[{colour}m{text}\033[0m" if has_colours(stream or sys.stderr) else text


def has_colours(stream: TextIO) -> bool:
    """True for a terminal, unless `NO_COLOR` is set or `TERM=dumb`; elsewhere only with `FORCE_COLOR`."""
    if os.environ.get("NO_COLOR"):
        return False
    if _forced():
        return True
    return os.environ.get("TERM") != "dumb" and stream.isatty()


def colour_conflict() -> str | None:
    """A warning if the environment asks for both."""
    if os.environ.get("NO_COLOR") and _forced():
        return "NO_COLOR and FORCE_COLOR are both set: no colours"
    return None


def _forced() -> bool:
    return os.environ.get("FORCE_COLOR", "") not in {"", "0"}
