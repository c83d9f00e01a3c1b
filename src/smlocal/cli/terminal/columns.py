"""Text that keeps within the width of a terminal; elsewhere nothing is wrapped, so that programs find whole lines."""

import os
from collections.abc import Iterator
from typing import TextIO

_LEAST = 24
"""Words are not squeezed into less than this."""


def width_of(stream: TextIO) -> int | None:
    """Columns of the terminal behind a stream; None where there is no terminal."""
    if not stream.isatty():
        return None
    import shutil

    # COLUMNS wins, as for other programs; the size asked for is that of stdout, which is the same terminal.
    return shutil.get_terminal_size().columns


def wrapped(text: str, *, indent: int, width: int | None) -> Iterator[str]:
    """A text that begins at column `indent`, in pieces: each but the first comes with that indent."""
    if width is None or indent + len(text) <= width:
        yield text
        return
    import textwrap

    pieces = textwrap.wrap(text, max(_LEAST, width - indent), break_on_hyphens=False, break_long_words=False)
    yield from (piece if index == 0 else f"{' ' * indent}{piece}" for index, piece in enumerate(pieces))


def shortened(text: str, room: int) -> str:
    """At most so many characters, the cut marked."""
    if len(text) <= room:
        return text
    return text[: max(0, room - 1)] + "…"


def from_here(path: str) -> str:
    """A path as a person would write it from here: `./out/…` where it lies below this folder."""
    try:
        relative = os.path.relpath(path)
    except FileNotFoundError:  # this folder was deleted
        return path
    return path if relative.startswith("..") else "." if relative == "." else f"./{relative}"
