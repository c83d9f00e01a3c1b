"""Each habit of the command line has tests, and those are there."""

import ast
from pathlib import Path

import pytest
from tests.habits import HABITS

ROOT = Path(__file__).parents[2]


def test_there_are_twenty_five() -> None:
    assert [int(habit.partition(" ")[0]) for habit in HABITS] == list(range(1, 26))


@pytest.mark.parametrize("habit", HABITS)
def test_a_habit_has_tests(habit: str) -> None:
    assert HABITS[habit]
    missing = [test for test in HABITS[habit] if not is_there(test)]
    assert not missing


def is_there(test: str) -> bool:
    path, _, function = test.partition("::")
    file = ROOT / path
    if not function:
        return file.suffix == ".txt" and file.is_file()
    return file.is_file() and function in {
        each.name for each in ast.parse(file.read_text(encoding="utf-8")).body if isinstance(each, ast.FunctionDef)
    }
