"""Each page of docs says at once what it is about, and all of them together stay short."""

from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).resolve().parents[2] / "docs").glob("*.md"))
MOST_WORDS = 62_000
"""In all pages. A fact stands once; what the code knows is made for the site (scripts/pages)."""


def first_lines(page: Path) -> list[str]:
    """The first three below the title that are not empty."""
    return [line for line in page.read_text(encoding="utf-8").splitlines() if line][1:4]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_begins_with_a_sentence_about_itself(page: Path) -> None:
    assert not first_lines(page)[0].startswith(("#", "|", "    ", "<!--", "```", "- ", "1."))
    assert any(line.rstrip().endswith((".", ":")) or ". " in line for line in first_lines(page))


def test_all_pages_together_are_short() -> None:
    assert sum(len(page.read_text(encoding="utf-8").split()) for page in PAGES) <= MOST_WORDS
