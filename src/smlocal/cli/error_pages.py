"""The rows of docs/errors.md, which `errors.md` beside this file is a link to, for `smlocal help ID`."""

import os
import re
from collections.abc import Iterator
from typing import TextIO

from smlocal.cli.terminal.columns import row, width_of
from smlocal.quick_dataclass import dataclass

_PAGE = os.path.join(os.path.dirname(__file__), "errors.md")
_ROW = re.compile(r"\| `([a-z0-9-]+)` \| (\d+) \| (.+) \| (.+) \| (.+) \|")
_LINK = re.compile(r"\[([^]]+)\]\(([^)]+)\)")
_COLUMN = 12


@dataclass(frozen=True, kw_only=True, slots=True)
class ErrorPage:
    """What is known of one kind of error."""

    id: str
    exit_code: str
    says: str
    cause: str
    remedy: str

    def lines(self, stream: TextIO) -> Iterator[str]:
        """The page, at the width of the terminal that the stream writes to."""
        yield f"{self.id}   exit code {self.exit_code}"
        yield ""
        for head, text in (("It says", self.says), ("Cause", self.cause), ("What to do", self.remedy)):
            yield from row(f"{head:<{_COLUMN}}", text, width=width_of(stream))


def error_pages() -> dict[str, ErrorPage]:
    """All of them, by id."""
    with open(_PAGE, encoding="utf-8") as file:
        found = [_ROW.fullmatch(line.rstrip("\n")) for line in file]
    pages = [each.groups() for each in found if each is not None]
    return {
        name: ErrorPage(id=name, exit_code=code, says=_plain(says), cause=_plain(cause), remedy=_plain(remedy))
        for name, code, says, cause, remedy in pages
    }


def _plain(text: str) -> str:
    """Without Markdown. A page that is linked to is named."""
    text = _LINK.sub(lambda found: _linked(found[1], found[2]), text)
    return re.sub(r"(?<![\w`*])\*([^*`]+)\*(?!\w)", r"<\1>", text).replace("`", "")


def _linked(text: str, target: str) -> str:
    page = f"docs/{target.partition('#')[0]}"
    return page if f"docs/{text}" == page else f"{text} ({page})"
