"""What CI services obey in the lines of a log, and text of others without it.

GitHub strips a line and runs one that begins with `::`. It runs `##[` anywhere, as Azure does `##vso[`.
A carriage return ends a line for them. Some compare text in a way that ignores characters without a width.
"""

import re

_WITHOUT_WIDTH = "\x00\u00ad\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff"
_SKIPPED = f"[{_WITHOUT_WIDTH}]*"
_COMMAND = re.compile(
    rf"#(?={_SKIPPED}#[\w{_WITHOUT_WIDTH}]*\[)|(?:(?<=[\r\n])|\A)([\s{_WITHOUT_WIDTH}]*):(?={_SKIPPED}:)"
)
_TAIL = 64
"""Characters of an unfinished line in which a command may have begun."""


def harmless(text: str) -> str:
    """Text of others without what a service would take for a command of ours."""
    return _COMMAND.sub(lambda found: "# " if found[1] is None else f"{found[1]}: ", text)


def harmless_json(text: str) -> str:
    """The same JSON document, in which no string has what a service would take for a command."""
    if "#" not in text:
        return text
    return _COMMAND.sub(lambda found: r"\u0023" if found[1] is None else found[0], text)


class CommandGuard:
    """Makes output harmless that comes in pieces, for example that of a container. Nothing is held back."""

    def __init__(self) -> None:
        """Begin at the start of a line."""
        self._line = ""
        """The end of the unfinished line."""

    def feed(self, piece: bytes) -> bytes:
        """Return what to print for the next bytes."""
        if not self._line and b"::" not in piece and b"#" not in piece and piece.endswith(b"\n") and piece.isascii():
            return piece
        text = piece.decode("utf-8", "surrogateescape")
        whole = harmless(self._line + text)
        # A space in the middle of a command that began in an earlier piece makes it harmless, too.
        result = whole[len(self._line) :] if whole.startswith(self._line) else f" {harmless(text)}"
        line = self._line + result
        self._line = line[max(line.rfind("\n"), line.rfind("\r")) + 1 :][-_TAIL:]
        return result.encode("utf-8", "surrogateescape")
