"""Text into HTML: whatever a job's name, log or file names hold stays text."""

import html
from collections.abc import Iterable

_PICTURES = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"} | {0x7F: 0x2421}
"""Control characters have no place in a page; each has a picture."""


_LONG = 24


def escaped(text: object) -> str:
    """Safe between tags and in the value of an attribute."""
    # A byte of a file name that is no UTF-8 would not even be written.
    writable = str(text).encode(errors="backslashreplace").decode()
    return html.escape(writable.translate(_PICTURES))


def section(title: str, *parts: str) -> str:
    """A part of the page under its heading; nothing where there is nothing to show."""
    content = "\n".join(part for part in parts if part)
    return f"<section>\n<h2>{escaped(title)}</h2>\n{content}\n</section>" if content else ""


def pairs(rows: Iterable[tuple[str, str]]) -> str:
    """Names and values; the values are HTML, and long ones have a row for themselves."""
    return "".join(f"<div{_width(value)}><dt>{escaped(name)}</dt><dd>{value}</dd></div>" for name, value in rows)


def _width(value: str) -> str:
    return ' class="wide"' if max(map(len, value.split("<br>"))) > _LONG else ""


def items(texts: Iterable[object]) -> str:
    """A list of sentences."""
    points = "".join(f"<li>{escaped(text)}</li>" for text in texts)
    return f'<ul class="notes">{points}</ul>' if points else ""
