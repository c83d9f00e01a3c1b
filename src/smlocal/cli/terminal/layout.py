"""Text laid out for a terminal: wrapped, shortened, in rows and tables, with colours.

Elsewhere nothing is wrapped, so programs get complete lines. Everything can be understood without colours.
"""

import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

from smlocal.base.at_use import at_use

if TYPE_CHECKING:
    import textwrap
    import unicodedata
else:
    textwrap = at_use("textwrap")
    unicodedata = at_use("unicodedata")

LEAST = 24
"""Text is never wrapped to fewer columns."""
_GAP = "   "
RED = "31"
GREEN = "32"
YELLOW = "33"
FAINT = "2"
BOLD = "1"
_OF_STATUS = {"Completed": GREEN, "InService": GREEN, "Failed": RED, "Stopped": YELLOW}
NO_COLOURS: Mapping[int, Callable[[str], str]] = {}


def width_of(stream: TextIO) -> int | None:
    """The columns of the terminal that a stream writes to; None if it is not a terminal."""
    if not stream.isatty():
        return None
    import shutil

    # The variable COLUMNS has priority, as in other programs. The size is that of stdout, the same terminal.
    return shutil.get_terminal_size().columns


def wrapped(text: str, *, indent: int, width: int | None, break_words: bool = False) -> Iterator[str]:
    """The lines of a text that begins at column `indent`; all but the first are indented.

    A word that is wider than the terminal stays whole, so that it can be copied, unless `break_words`.
    """
    if width is None or indent + len(text) <= width:
        yield text
        return

    room = max(LEAST, width - indent)
    pieces = textwrap.wrap(text, room, break_on_hyphens=False, break_long_words=break_words) or [""]
    yield from (piece if index == 0 else f"{' ' * indent}{piece}" for index, piece in enumerate(pieces))


def row(
    head: str, text: str, *, width: int | None, least: int = LEAST, narrow: int = 2, break_words: bool = False
) -> Iterator[str]:
    """Lines of a row: its head, and beside it the text, whose further lines begin below its first one.

    If the terminal has fewer than `least` columns beside the head, the text is below it, at column `narrow`.
    """
    indent = len(head)
    if width is not None and width - indent < least:
        indent = min(indent, narrow if width - narrow >= LEAST else 2)
        if head.strip():
            yield head.rstrip()
            if not text:
                return
        head = " " * indent
    for line in text.splitlines() or [""]:
        pieces = wrapped(line, indent=indent, width=width, break_words=break_words)
        yield f"{head}{next(pieces)}".rstrip()
        yield from pieces
        head = " " * indent


def shortened(text: str, room: int) -> str:
    """The text with at most `room` characters; a cut is marked by `…`."""
    if len(text) <= room:
        return text
    return text[: max(0, room - 1)] + "…"


def columns_of_text(text: str) -> int:
    """The columns that a text takes on a terminal: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def shortened_to_columns(text: str, room: int) -> str:
    """The text in at most `room` columns; a cut is marked by `…`."""
    if columns_of_text(text) <= room:
        return text
    kept, used = [], 0
    for character in text:
        used += _columns(character)
        if used > room - 1:
            break
        kept.append(character)
    return "".join(kept) + "…" * (room > 0)


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def paint(text: str, colour: str, stream: TextIO | None = None) -> str:
    """Colour a text for a stream, by default stderr, if it is to have colours."""
    return f"\033[{colour}m{text}\033[0m" if has_colours(stream or sys.stderr) else text


def status_colour(status: str) -> str:
    """The colour of a status in a table; most have none."""
    return _OF_STATUS.get(status.partition(",")[0], "")


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


def table(
    rows: Sequence[Sequence[str]],
    *,
    width: int | None,
    shrinkable: Sequence[tuple[int, int]] = (),
    right: Collection[int] = (),
    colours: Mapping[int, Callable[[str], str]] = NO_COLOURS,
) -> Iterator[str]:
    """The first row has the headings. No line is longer than `width`, if there is one.

    `shrinkable`: columns that may become narrower, in this order, and their least width. The columns `right`
    are aligned to the right. `colours` gives the colour of a cell, by column. Lines that are cut have no colours.
    """
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    for column, least in () if width is None else shrinkable:
        excess = sum(widths) + len(_GAP) * (len(widths) - 1) - (width or 0)
        widths[column] = max(min(least, widths[column]), widths[column] - max(0, excess))
    for each in rows:
        cells = [
            shortened(cell, room).rjust(room) if column in right else shortened(cell, room).ljust(room)
            for column, (cell, room) in enumerate(zip(each, widths, strict=True))
        ]
        line = _GAP.join(cells).rstrip()
        if width is not None and len(line) > width:
            yield shortened(line, width)
            continue
        for column, colour_of in colours.items():
            if colour := colour_of(each[column]):
                text = cells[column].strip()
                cells[column] = cells[column].replace(text, f"\033[{colour}m{text}\033[0m", 1)
        yield _GAP.join(cells).rstrip()
