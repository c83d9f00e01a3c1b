"""Every test that a table names is there: of habits, members and facts, and of what an engine or a user cannot do."""

import ast
from functools import cache
from pathlib import Path

import pytest
from pages.truth import facts
from tests.contract.member_tests import TEST_OF
from tests.kit.needs_root import NEEDS_FUSE, NEEDS_ROOT
from tests.kit.podman_differs import DIFFERS_ON_PODMAN, DIFFERS_ON_PODMAN_5, MOSTLY_OF_NONE, NOT_OF_AN_ENGINE
from tests.repo.habits import HABITS

ROOT = Path(__file__).parents[2]
TESTS = "tests/"
TABLES = {
    "tests/repo/habits.py": {test for tests in HABITS.values() for test in tests},
    "tests/contract/member_tests.py": {*TEST_OF.values()},
    "tests/contract/facts": {test for found in facts().values() for fact in found for test in fact.tests},
    "tests/kit/needs_root.py": {TESTS + begin for begin in (*NEEDS_ROOT, *NEEDS_FUSE)},
    "tests/kit/podman_differs.py": {
        TESTS + begin for begin in (*DIFFERS_ON_PODMAN, *DIFFERS_ON_PODMAN_5, *NOT_OF_AN_ENGINE, *MOSTLY_OF_NONE)
    },
}
CASES = "test_case["
"""With a folder of `cases` for each."""


@pytest.mark.slow(0.5)
def test_every_test_of_a_table_is_there() -> None:
    assert all(TABLES.values())
    assert {table: sorted(test for test in tests if not is_there(test)) for table, tests in TABLES.items()} == {
        table: [] for table in TABLES
    }


def test_what_is_not_there() -> None:
    assert is_there("tests/repo/test_named_tests.py::test_what_is_not_there")
    for test in (
        "tests/repo/test_named_tests.py::test_what_is_nowhere",
        "tests/repo/test_named_tests.py::test_what_is_not",
        "tests/unit/test_nowhere.py",
        "tests/nowhere/",
        "tests/contract/test_cases.py::test_case[nowhere]",
    ):
        assert not is_there(test)


def is_there(test: str) -> bool:
    """For a file, a folder or a recorded screen: that it exists. Tests of parameters are those of their function."""
    path, _, function = test.partition("::")
    if not function or not (ROOT / path).is_file():
        return (ROOT / path).exists() and not function
    if function.startswith(CASES):
        case = function.removeprefix(CASES).removesuffix("]")
        return (ROOT / path).with_name("cases").joinpath(case, "expect.yaml").exists()
    return function.partition("[")[0] in _functions(ROOT / path)


@cache
def _functions(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {each.name for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)}


def test_no_two_test_files_are_the_same() -> None:
    names: dict[bytes, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        names.setdefault(path.read_bytes(), []).append(str(path.relative_to(ROOT)))
    assert [same for same in names.values() if len(same) > 1] == []
