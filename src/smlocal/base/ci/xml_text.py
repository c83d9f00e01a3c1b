"""Text that an XML document can hold."""

import re

_NOT_XML = "[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\x7f-\x84\x86-\x9f]"
"""XML 1.0 has no control characters, no surrogates and no U+FFFE, escaped or not.

DEL to U+009F are allowed, but no program shows them. A carriage return is allowed, and every reader turns it into a
newline. Compiled when it is needed: that takes 2 ms.
"""


def xml_text(text: str) -> str:
    r"""Write what XML cannot hold as escapes: `\x1b`, `\r`."""
    return re.sub(_NOT_XML, _escape, text.replace("\r\n", "\n"))


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()
