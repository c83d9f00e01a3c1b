import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

Sections = dict[str, str]
Rows = list[list[str]]


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def page() -> Callable[[str], str]:
    """The text of a page of docs/."""

    def read(name: str) -> str:
        return (ROOT / "docs" / name).read_text(encoding="utf-8")

    return read


@pytest.fixture(scope="session")
def sections() -> Callable[[str], Sections]:
    """A page's parts by their headings; what stands before the first heading is left out."""

    def split(text: str) -> Sections:
        parts = re.split(r"^#{1,6} (.+)$", text, flags=re.MULTILINE)[1:]
        return {heading.strip(): body for heading, body in zip(parts[::2], parts[1::2], strict=True)}

    return split


@pytest.fixture(scope="session")
def rows() -> Callable[[str], Rows]:
    """The cells of every row of every table in a text, without heads and rules."""

    def read(text: str) -> Rows:
        return list(_rows(text.splitlines()))

    return read


def _rows(lines: list[str]) -> Iterator[list[str]]:
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if not line.startswith("|") or _is_rule(line) or _is_rule(following):
            continue
        yield [cell.strip() for cell in line.strip().strip("|").split("|")]


def _is_rule(line: str) -> bool:
    return re.fullmatch(r"\|(\s*:?-+:?\s*\|)+", line.strip()) is not None
