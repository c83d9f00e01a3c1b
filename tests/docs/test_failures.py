"""docs/failures.md has, on the site, the rows that tests on real containers produce."""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pages.failures import USUAL
from pages.failures import reasons as all_reasons
from pages.inserted import MARKER, with_tables

from smlocal.sagemaker.contract.outcome import reasons as words

TESTS = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def reasons() -> list[dict[str, Any]]:
    return all_reasons()


def shown(reason: str) -> str:
    return "`" + reason.replace("\n", "\\n").replace("\t", "\\t") + "`"


def strings(test: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(test.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_every_row_is_shown_and_every_row_shown_is_one(
    reasons: list[dict[str, Any]],
    page: Callable[[str], str],
    sections: Callable[[str], dict[str, str]],
    rows: Callable[[str], list[list[str]]],
) -> None:
    assert f"the statuses are {' → '.join(USUAL)}, unless the last column has others" in page("failures.md")
    parts = sections(with_tables(page("failures.md")))
    named = [found[2] for found in MARKER.finditer(page("failures.md"))]
    assert sorted(named) == sorted({row["table"] for row in reasons})
    for table in {row["table"] for row in reasons}:
        expected = [
            [row["cause"], shown(row["reason"]), "" if row["path"] == USUAL else " → ".join(row["path"])]
            for row in reasons
            if row["table"] == table
        ]
        assert rows(parts[table]) == expected
    tables = {heading for heading, text in parts.items() if rows(text)}
    assert tables - {row["table"] for row in reasons} == {"Reasons that do not occur here"}


@pytest.mark.slow(0.5)
def test_every_row_is_produced_by_a_test(reasons: list[dict[str, Any]]) -> None:
    named = {text for test in TESTS.rglob("test_*.py") for text in strings(test)}
    ids = [row["id"] for row in reasons]
    assert len(ids) == len(set(ids))
    assert [row["id"] for row in reasons if "script" not in row and row["id"] not in named] == []


def test_every_reason_of_one_wording_has_a_row(reasons: list[dict[str, Any]]) -> None:
    produced = {row["reason"] for row in reasons}
    assert {words.INTERNAL_ERROR, words.OUT_OF_MEMORY, words.CANNOT_PULL} <= produced


def test_every_reason_that_does_not_occur_says_why(
    page: Callable[[str], str],
    sections: Callable[[str], dict[str, str]],
    rows: Callable[[str], list[list[str]]],
) -> None:
    table = rows(sections(page("failures.md"))["Reasons that do not occur here"])
    assert table
    assert all(len(row) == 2 and all(row) for row in table)
