"""Clashes are found in any order, against a check that keeps everything in memory."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.data.sources.selection import first_conflict

PATHS = st.lists(
    st.lists(st.sampled_from(["a", "b", "a-", "a.b", "é"]), min_size=1, max_size=3).map("/".join), max_size=9
)


def clashing(paths: list[str], directories: list[str]) -> bool:
    """Naively."""
    folders = {"/".join(path.split("/")[:depth]) for path in paths for depth in range(1, path.count("/") + 1)}
    folders |= {"/".join(path.split("/")[:depth]) for path in directories for depth in range(1, path.count("/") + 2)}
    return len(set(paths)) < len(paths) or bool(folders & set(paths))


@given(paths=PATHS, directories=st.sets(st.sampled_from(["a", "a/b", "b/a", "é"])).map(sorted))
def test_a_clash_is_found_exactly_where_there_is_one(paths: list[str], directories: list[str]) -> None:
    found = first_conflict(paths, directories)
    assert (found is not None) == clashing(paths, directories)
    if found is not None:
        first, second = found
        assert first in paths
        assert second in {*paths, *(f"{each}/" for each in directories)}


@pytest.mark.parametrize(
    ("paths", "clash"),
    [
        (["a", "a-b", "a.b", "a/b"], ("a", "a/b")),
        (["a", "aa", "aa/b", "ab"], ("aa", "aa/b")),
        (["a", "a"], ("a", "a")),
        (["a/b", "a/bb", "ab"], None),
        ([], None),
    ],
)
def test_names_between_hide_no_clash(paths: list[str], clash: tuple[str, str] | None) -> None:
    assert first_conflict(paths) == clash
    assert first_conflict(paths[::-1]) == clash
