"""Colours. Everything can be understood without them."""

import os
import sys

RED = "31"
GREEN = "32"
YELLOW = "33"
FAINT = "2"
BOLD = "1"


def paint(text: str, colour: str) -> str:
    """Colour a text if stderr is a terminal and NO_COLOR is not set."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not sys.stderr.isatty():
        return text
    return f"\033[{colour}m{text}\033[0m"
