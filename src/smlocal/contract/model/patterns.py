"""Matches the service's patterns: Java regular expressions for the whole value."""

import re
from functools import cache

_DOT = r"[^\n\r\u0085\u2028\u2029]"  # Java's `.` matches no line terminator at all, Python's only excludes \n
_SPACE_SEPARATORS = "\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000"
_CLASSES = {
    r"\p{Alnum}": "a-zA-Z0-9",
    # Python's \w is \p{L}, \p{N} and `_`. The only pattern with these classes (tags) has all three.
    r"\p{L}": r"\w",
    r"\p{N}": r"\w",
    r"\p{Z}": _SPACE_SEPARATORS,
}
_TOKENS = re.compile(r"\\p\{\w+\}|\\.|[\[\].]", re.DOTALL)
_ANYTHING = (r"[\S\s]*",)


def translate(pattern: str) -> str:
    """The same expression for Python."""
    inside = False

    def token(match: re.Match[str]) -> str:
        nonlocal inside
        text = match.group()
        if text == "[":
            inside = True
        elif text == "]":
            inside = False
        elif text == "." and not inside:
            return _DOT
        return _CLASSES.get(text, text)

    return _TOKENS.sub(token, pattern)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    # In Java \d, \w and \s are ASCII, and only \p{…} is Unicode.
    return re.compile(translate(pattern), 0 if r"\p{L}" in pattern else re.ASCII)


def matches(pattern: str, value: str) -> bool:
    """True if the whole value matches."""
    return pattern in _ANYTHING or _compiled(pattern).fullmatch(value) is not None
