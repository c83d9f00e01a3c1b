"""Make text of other programs (failure files, logs, object keys) safe for a terminal and for the log of a CI service.

It has no control sequences then, and no line that a CI service would obey. The output of containers is changed only
where that is asked for, or a CI service reads it; the log keeps the bytes as they were.
"""

import os
import re
import stat
from collections.abc import Callable
from typing import Protocol

from smlocal.base.ci.services import CommandGuard, harmless, harmless_json
from smlocal.base.regex import regex

_CONTROLS = regex(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""All control characters but TAB and newline, and those that turn the direction of what follows."""
_COLOURS = regex(r"\x1b\[[0-9;:]*m")
_COLOURS_AND_CONTROLS = regex(f"{_COLOURS.pattern}|{_CONTROLS.pattern}")
_WITHOUT_WIDTH = frozenset("\x00\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\ufeff").union(
    map(chr, range(0xFE00, 0xFE10))
)
_ALLOWED_OR_NOT = regex(r"\x1b\[[0-9;:]*m|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\udc80-\udcff]")
"""A colour, or a control character. Surrogates are bytes that are not UTF-8; some terminals take them for controls."""
_UNFINISHED = regex(rb"(?:\x1b(?:\[[0-9;:]{0,32})?|[\xc2-\xf4][\x80-\xbf]{0,2})\Z")
"""The beginning of a colour or of a character."""
_LONGEST_KEPT = 40


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
    return harmless(text)


def json_without_commands(text: str) -> str:
    """The same JSON document without what a CI service would obey."""
    if "#" not in text:
        return text
    return harmless_json(text)


def without_colours(text: str) -> str:
    """Remove the sequences that only colour text."""
    return _COLOURS.sub("", text)


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


class Change(Protocol):
    """Changes the output of one stream, which comes in pieces."""

    def feed(self, piece: bytes) -> bytes:
        """Return what to show for the next bytes."""
        ...


class SafeOutput:
    """Lets only text, tabs, carriage returns and colours pass; other control characters are shown as escapes.

    A container cannot set the clipboard or the title of the terminal then, nor write over earlier lines.
    """

    def __init__(self) -> None:
        """Begin at the start of a character."""
        self._kept = b""

    def feed(self, piece: bytes) -> bytes:
        """Return what to show. At most the beginning of one sequence is kept for the next piece."""
        data = self._kept + piece if self._kept else piece
        self._kept = b""
        unfinished = _UNFINISHED.search(data, max(0, len(data) - _LONGEST_KEPT))
        # A whole character of two or three bytes looks like the beginning of a longer one.
        if unfinished is not None and not _is_whole(unfinished[0]):
            self._kept = unfinished[0]
            data = data[: unfinished.start()]
        text = data.decode("utf-8", "surrogateescape")
        return _ALLOWED_OR_NOT.sub(_shown, text).encode("utf-8", "surrogateescape")


def _is_whole(character: bytes) -> bool:
    try:
        character.decode()
    except UnicodeDecodeError:
        return False
    return character[:1] != b"\x1b"


def _shown(found: re.Match[str]) -> str:
    if len(found[0]) > 1:
        return found[0]
    code = ord(found[0])
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else found[0].encode("unicode_escape").decode()  # noqa: PLR2004


class Changes:
    """The changes of the output of all containers, each stream of a host for itself."""

    def __init__(self, *makers: Callable[[], Change]) -> None:
        """`makers` make the changes of one stream, in their order."""
        self._makers = makers
        self._made: dict[tuple[str, int], tuple[Change, ...]] = {}

    def __bool__(self) -> bool:
        """False if nothing is changed."""
        return bool(self._makers)

    def apply(self, host: str, stream: int, piece: bytes) -> bytes:
        """Return what to show for the next bytes of a stream."""
        if (host, stream) not in self._made:
            self._made[host, stream] = tuple(make() for make in self._makers)
        for change in self._made[host, stream]:
            piece = change.feed(piece)
        return piece


def chosen_changes(*, safe: bool, in_ci: bool, descriptor: int) -> Changes:
    """What the user wants, and what is needed where a CI service reads the output: it runs commands in the lines.

    What goes to a file is not its log.
    """
    makers: list[Callable[[], Change]] = [SafeOutput] if safe else []
    if in_ci and not stat.S_ISREG(os.fstat(descriptor).st_mode):
        makers.append(CommandGuard)
    return Changes(*makers)
