"""A container's output as the service's log shows it: control characters are escaped as by syslog, a TAB as `#011`.

Bytes that are not UTF-8 become U+FFFD, one for each part of a broken character, as Java decodes it (inferred). The
control characters U+0080 to U+009F are escaped byte by byte (inferred).
"""

import codecs
import re
from typing import Final

from smlocal.base.regex import regex

_CONTROLS: Final = bytes({*range(0x20), 0x7F} - {0x0A})
_OTHERS: Final = bytes(set(range(0x100)) - set(_CONTROLS))
_BEYOND_ASCII: Final = regex(b"\xc2[\x80-\x9f]")
"""U+0080 to U+009F in UTF-8."""


class LogView:
    """Converts output piece by piece. The result is UTF-8.

    Line ends do not change. At most three bytes of an incomplete character are kept for the next piece.
    """

    def __init__(self) -> None:
        """Begin at the start of a character."""
        self._kept = b""

    @property
    def kept(self) -> int:
        """How many bytes are kept for the next piece."""
        return len(self._kept)

    def feed(self, piece: bytes, *, last: bool = False) -> bytes:
        """Convert the next bytes; with `last`, including those that were kept."""
        data = self._kept + piece if self._kept else piece
        self._kept = b""
        if data.isascii():
            return _escaped(data)
        text, used = codecs.utf_8_decode(data, "replace", last)
        self._kept = data[used:]
        data = _escaped(text.encode())
        return _BEYOND_ASCII.sub(_by_byte, data) if b"\xc2" in data else data


def view_of(line: bytes) -> str:
    """Convert whole lines."""
    return LogView().feed(line, last=True).decode()


def _escaped(data: bytes) -> bytes:
    """Escape control characters, with one fast pass for each different one."""
    for code in set(data.translate(None, _OTHERS)):
        data = data.replace(bytes((code,)), b"#%03o" % code)
    return data


def _by_byte(found: re.Match[bytes]) -> bytes:
    return b"".join(b"#%03o" % code for code in found[0])
