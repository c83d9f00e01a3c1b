"""Wrap and shorten text to the width of a terminal. Elsewhere nothing is wrapped, so programs get complete lines."""

from collections.abc import Iterator
from typing import TextIO

LEAST = 24
"""Text is never wrapped to fewer columns."""


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
    import textwrap

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
    import unicodedata

    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1
