"""The page of a run on GitHub and Azure: a table in Markdown, made of HTML so that nothing in it is markup."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from smlocal.base.ci.xml_text import xml_text

_LARGEST = 500_000
"""Bytes; GitHub refuses a summary of more than 1 MiB, and earlier parts of the step have written theirs."""
_MORE = "<p>There is more than fits here.</p>\n\n"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Cells of text; each may have several lines. Rows at the end that do not fit are left out."""
    begin, end = f"<table>\n{_row('th', head)}", "</table>\n\n"
    shown = list(_fitting(_row("td", row) for row in rows))
    return begin + "".join(shown) + end + (_MORE if len(shown) < len(rows) else "")


def folded(title: str, text: str) -> str:
    """Text that is shown when somebody asks for it, as it was written; of a long one the end."""
    lines = list(_fitting(f"{_text(line)}\n" for line in reversed(text.splitlines())))
    return f"<details><summary>{_text(title)}</summary>\n<pre>{''.join(reversed(lines))}</pre>\n</details>\n\n"


def heading(text: str) -> str:
    """A heading for what follows."""
    return f"<h3>{_text(' '.join(text.split()))}</h3>\n\n"


def limited(parts: Iterable[str]) -> str:
    """As many of these as a service takes."""
    parts = list(parts)
    shown = list(_fitting(parts))
    return "".join(shown) + (_MORE if len(shown) < len(parts) else "")


def _fitting(parts: Iterable[str]) -> Iterator[str]:
    room = _LARGEST
    for part in parts:
        room -= len(part.encode())
        if room < 0:
            return
        yield part


def _row(cell: str, texts: Sequence[str]) -> str:
    cells = "".join(f"<{cell}>{'<br>'.join(_text(text).splitlines())}</{cell}>" for text in texts)
    return f"<tr>{cells}</tr>\n"


def _text(text: str) -> str:
    return escape(xml_text(text))
