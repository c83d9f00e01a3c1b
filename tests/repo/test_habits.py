"""The habits of the command line. That their tests are there is a test of all such tables: `test_named_tests.py`."""

from tests.repo.habits import HABITS


def test_there_are_twenty_five_and_each_has_tests() -> None:
    assert [int(habit.partition(" ")[0]) for habit in HABITS] == list(range(1, 26))
    assert all(HABITS.values())
