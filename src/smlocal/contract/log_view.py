"""What the service's log shows of what a container wrote: control characters arrive as syslog escapes them, `#ooo`.

A TAB is `#011`. What is no UTF-8 is shown as U+FFFD, one for each part of a broken character, as Java decodes it
(inferred). The control characters beyond ASCII, U+0080 to U+009F, are escaped byte by byte (inferred).
"""

import codecs
import re
from typing import Final

_CONTROLS: Final = bytes({*range(0x20), 0x7F} - {0x0A})
_OTHERS: Final = bytes(set(range(0x100)) - set(_CONTROLS))
_BEYOND_ASCII: Final = re.compile(b"\xc2[\x80-\x9f]")
"""U+0080 to U+009F in UTF-8."""


class LogView:
    """Turns what a container writes into the service's view of it, piece by piece; both are bytes, the view in UTF-8.

    Lines stay lines, and of a character that is not all there at most three bytes are held back.
    """

    def __init__(self) -> None:
        """Begin where a character begins."""
        self._kept = b""

    def feed(self, piece: bytes, *, last: bool = False) -> bytes:
        """Return the view of the next bytes; the `last` ones bring what was held back."""
        data = self._kept + piece if self._kept else piece
        self._kept = b""
        if data.isascii():
            return _escaped(data)
        text, used = codecs.utf_8_decode(data, "replace", last)
        self._kept = data[used:]
        data = _escaped(text.encode())
        return _BEYOND_ASCII.sub(_by_byte, data) if b"\xc2" in data else data


def view_of(line: bytes) -> str:
    """One whole line, or a few, as the service's log shows them."""
    return LogView().feed(line, last=True).decode()


def _escaped(data: bytes) -> bytes:
    """Replace what there is of control characters: many passes are rare, and each is fast."""
    for code in set(data.translate(None, _OTHERS)):
        data = data.replace(bytes((code,)), b"#%03o" % code)
    return data


def _by_byte(found: re.Match[bytes]) -> bytes:
    return b"".join(b"#%03o" % code for code in found[0])
