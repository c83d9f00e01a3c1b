"""Filter patterns for lines of text: terms, quoted phrases, `-` for what must not be there, `?` for one of several."""

import re
from collections.abc import Callable

from smlocal.server.logs.errors import invalid_parameter

_TERM = re.compile(r'(?P<sign>[?-]?)(?:"(?P<phrase>(?:[^"\\]|\\.)*)"|(?P<word>[A-Za-z0-9_]+))(?=\s|$)', re.ASCII)
_ESCAPED = re.compile(r"\\(.)")
_OTHER_KINDS = {"{": "JSON patterns", "[": "space-delimited patterns", "%": "regular expressions"}


def compile_pattern(pattern: str) -> Callable[[str], bool]:
    """A function that is true for messages that match. Case counts, and a term may be a part of a word."""
    wanted: list[str] = []
    unwanted: list[str] = []
    any_of: list[str] = []
    lists = {"": wanted, "-": unwanted, "?": any_of}
    rest = pattern.strip()
    if rest[:1] in _OTHER_KINDS:
        raise invalid_parameter(f"Invalid filter pattern: smlocal does not emulate {_OTHER_KINDS[rest[0]]}.")
    while rest:
        found = _TERM.match(rest)
        if found is None:
            raise invalid_parameter(
                "Invalid filter pattern: a term with characters other than letters, digits and _ must be in quotes."
            )
        phrase = found["phrase"]
        lists[found["sign"]].append(found["word"] if phrase is None else _ESCAPED.sub(r"\1", phrase))
        rest = rest[found.end() :].lstrip()
    if any_of and (wanted or unwanted):
        raise invalid_parameter("Invalid filter pattern: smlocal does not emulate ? together with other terms.")

    def matches(message: str) -> bool:
        return (
            all(term in message for term in wanted)
            and not any(term in message for term in unwanted)
            and (not any_of or any(term in message for term in any_of))
        )

    return matches
