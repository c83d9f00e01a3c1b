"""How much is kept: the least recently used goes first, nothing that a job uses."""

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.data.channels.cache.shelf import Shelf, files

from smlocal.data.channels.cache.eviction import bytes_held, remove_trees, reserve_space

KIB = 1024


def fill(shelf: Shelf, name: str, *, age: float, job: str | None = None, limit: int = 3 * KIB) -> Path | None:
    """A tree of one KiB; its job ends at once unless it has a name."""
    root = shelf.get_tree({name: name.encode() * KIB}, job=job or "short", cache=replace(shelf.cache, limit=limit))
    if root is not None:
        shelf.age(root, age)
    if job is None:
        shelf.end("short")
    return root


def there(*roots: Path | None) -> list[bool]:
    return [root is not None and root.exists() for root in roots]


def test_the_least_recently_used_goes_first(shelf: Shelf) -> None:
    a, b, c = fill(shelf, "a", age=10), fill(shelf, "b", age=30), fill(shelf, "c", age=20)
    d = fill(shelf, "d", age=0)
    assert there(a, b, c, d) == [True, False, True, True]
    fill(shelf, "a", age=0)  # a look counts as a use
    assert shelf.downloaded == ["a", "b", "c", "d"]
    e = fill(shelf, "e", age=0)
    assert there(a, b, c, d, e) == [True, False, False, True, True]
    assert bytes_held(shelf.cache) == 3 * KIB


def test_never_a_tree_in_use(shelf: Shelf) -> None:
    a, b = fill(shelf, "a", age=30, job="reader"), fill(shelf, "b", age=20)
    c, d = fill(shelf, "c", age=10), fill(shelf, "d", age=0)
    assert there(a, b, c, d) == [True, False, True, True]


def test_never_a_tree_that_a_shell_uses(shelf: Shelf) -> None:
    a = fill(replace(shelf, users="shells"), "a", age=30, job="0a1b")
    b, c, d = fill(shelf, "b", age=20), fill(shelf, "c", age=10), fill(shelf, "d", age=0)
    assert there(a, b, c, d) == [True, False, True, True]
    assert a is not None
    name = a.parent.name
    assert remove_trees(shelf.cache, [name]) == {name: ["shell 0a1b"]}


def test_where_running_jobs_use_everything_there_is_no_room_and_nothing_goes(shelf: Shelf) -> None:
    trees = [fill(shelf, name, age=0, job=f"job-{name}") for name in "ab"]
    idle = fill(shelf, "c", age=0)
    assert shelf.get_tree({"d": b"d" * 2 * KIB}, cache=replace(shelf.cache, limit=3 * KIB)) is None
    assert there(*trees, idle) == [True, True, True]
    assert "d" not in shelf.downloaded


def test_shared_contents_stay_for_as_long_as_a_tree_has_them(shelf: Shelf) -> None:
    cache = replace(shelf.cache, limit=3 * KIB)
    both = shelf.get_tree({"x": b"x" * KIB, "y": b"y" * KIB}, cache=cache)
    one = shelf.get_tree({"x": b"x" * KIB}, cache=cache)
    assert both is not None
    assert one is not None
    assert bytes_held(shelf.cache) == 2 * KIB
    shelf.age(both, 60)
    shelf.end("job")
    third = shelf.get_tree({"z": b"z" * 2 * KIB}, cache=cache)
    assert there(both, one, third) == [False, True, True]
    assert files(one) == {"x": b"x" * KIB}
    assert bytes_held(shelf.cache) == 3 * KIB


def test_contents_that_no_tree_has_go_before_trees_that_were_used_since(shelf: Shelf) -> None:
    a = fill(shelf, "a", age=0)
    assert a is not None
    shutil.rmtree(a.parent)
    b, c = fill(shelf, "b", age=-60), fill(shelf, "c", age=-60)
    d = fill(shelf, "d", age=-60)
    assert there(b, c, d) == [True, True, True]
    assert bytes_held(shelf.cache) == 3 * KIB


def test_room_that_a_running_download_needs_is_taken(shelf: Shelf) -> None:
    shelf.cache.prepare()
    with shelf.cache.alone("working", lambda: None):
        working = Path(shelf.cache.partial, "working")
        working.mkdir()
        assert reserve_space(shelf.cache, str(working), 2 * KIB)
        assert bytes_held(shelf.cache) == 2 * KIB
        small = replace(shelf.cache, limit=3 * KIB)
        assert shelf.get_tree({"x": b"x" * 2 * KIB}, cache=small) is None
    # Its process is gone, and what it reserved is free.
    assert shelf.get_tree({"x": b"x" * 2 * KIB}, cache=small) is not None


def test_dropping_leaves_what_is_used_and_what_others_share(shelf: Shelf) -> None:
    used = shelf.get_tree({"x": b"x", "y": b"y"}, job="reader")
    idle = shelf.get_tree({"x": b"x", "z": b"zz"}, job="ended")
    shelf.end("ended")
    assert used is not None
    assert idle is not None
    assert remove_trees(shelf.cache, [used.parent.name, idle.parent.name]) == {used.parent.name: ["reader"]}
    assert there(used, idle) == [True, False]
    assert files(used) == {"x": b"x", "y": b"y"}
    assert bytes_held(shelf.cache) == 2
    assert shelf.get_tree({"x": b"x", "y": b"y"}, job="next") == used


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="mounting needs root")
def test_on_a_full_disk_the_least_recently_used_goes_whatever_the_limit(tmp_path: Path) -> None:
    script = """
import sys
from pathlib import Path
from smlocal.data.channels.cache.folder import Cache
from tests.unit.data.channels.cache.shelf import Shelf
shelf = Shelf(cache=Cache(home=sys.argv[1]))
for name in "abcd":
    root = shelf.get_tree({name: name.encode() * 300_000})
    shelf.end("job")
    print(name, root is not None, *sorted(file.name for file in Path(sys.argv[1]).glob("cache/trees/*/data/*")))
"""
    small = tmp_path / "small"
    small.mkdir()
    mounted = 'mount -t tmpfs -o size=1m none "$1" && shift && exec "$@"'
    done = subprocess.run(
        [
            *("unshare", "--mount", "--propagation", "private"),
            *("sh", "-c", mounted, "sh", small, sys.executable, "-c", script, small),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[5],
    )
    assert done.stdout.splitlines() == ["a True a", "b True a b", "c True a b c", "d True b c d"], done.stderr
