"""Colour where it is wanted; words carry everything without it."""

import os
import sys

RED = "31"
GREEN = "32"
YELLOW = "33"
FAINT = "2"
BOLD = "1"


def paint(text: str, colour: str) -> str:
    """Colour a word for stderr: a terminal, and nobody said NO_COLOR."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not sys.stderr.isatty():
        return text
    return f"\033[{colour}m{text}\033[0m"
