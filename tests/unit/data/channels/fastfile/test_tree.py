"""A tree shows the entries that a real file system would show for the same paths."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smlocal.data.channels.fastfile.tree import ROOT_INODE, Tree

TreeOf = Callable[..., Tree]

names = st.text(alphabet="a-/.0é\U0001f600", min_size=1, max_size=6)


def can_be_files(paths: list[str]) -> list[str]:
    """Those of them that can be there together, as channels are given none but such."""
    kept: list[str] = []
    for path in paths:
        parts = path.split("/")
        above = {"/".join(parts[:depth]) for depth in range(1, len(parts) + 1)}
        below = any(other.startswith(f"{path}/") for other in kept)
        if not {"", ".", ".."} & set(parts) and not above & set(kept) and not below:
            kept.append(path)
    return kept


def names_in(tree: Tree, folder: str) -> list[str]:
    node = tree.lookup(os.fsencode(folder))
    assert node is not None
    assert node.folder
    return [os.fsdecode(name) for name, _, _ in tree.children(os.fsencode(folder), node.index)]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(names, max_size=12).map(can_be_files))
def test_folders_and_files_are_those_of_a_file_system(
    tmp_path_factory: pytest.TempPathFactory, tree_of: TreeOf, paths: list[str]
) -> None:
    real = tmp_path_factory.mktemp("real")
    for path in paths:
        (real / path).parent.mkdir(parents=True, exist_ok=True)
        (real / path).touch()
    tree = tree_of(paths)
    inodes = set()
    for folder in (real, *(each for each in real.rglob("*") if each.is_dir())):
        below = str(folder.relative_to(real)) if folder != real else ""
        assert sorted(names_in(tree, below)) == sorted(os.listdir(folder))
        node = tree.lookup(os.fsencode(below))
        assert node is not None
        inodes.add(node.inode)
    for size, path in enumerate(paths):
        node = tree.lookup(os.fsencode(path))
        assert node is not None
        assert (node.folder, node.size) == (False, size)
        assert tree.etag_and_key(node.index, "base/") == (f'"{size}"', f"base/{path}")
        inodes.add(node.inode)
    assert len(inodes) == len(paths) + len({each for each in real.rglob("*") if each.is_dir()}) + 1
    for absent in ("b", "a/b/c", "a-/", *(f"{path}/x" for path in paths), *(f"{path}0" for path in paths[:1])):
        if not (real / absent).exists():
            assert tree.lookup(os.fsencode(absent)) is None


def test_what_lies_between_a_folder_and_its_files_is_no_part_of_it(tree_of: TreeOf) -> None:
    tree = tree_of(["a-b", "a.txt", "a/x", "a0"])  # in the byte order of a listing
    assert names_in(tree, "") == ["a-b", "a.txt", "a", "a0"]
    assert names_in(tree, "a") == ["x"]


def test_a_listing_goes_on_where_it_was_left(tree_of: TreeOf) -> None:
    tree = tree_of([f"{number:03}/file" for number in range(50)] + [f"x{number:03}" for number in range(50)])
    whole = names_in(tree, "")
    found: list[str] = []
    place = 0
    while taken := [entry for _, entry in zip(range(7), tree.children(b"", place), strict=False)]:
        found += [os.fsdecode(name) for name, _, _ in taken]
        place = taken[-1][2]
    assert found == whole
    assert len(found) == 100


def test_empty_folders_are_there(tree_of: TreeOf) -> None:
    tree = tree_of(["b/file", "a"], directories=("empty", "b", "b/inner"))
    assert sorted(names_in(tree, "")) == ["a", "b", "empty"]
    assert names_in(tree, "empty") == []
    assert sorted(names_in(tree, "b")) == ["file", "inner"]


def test_keys_of_their_own_and_bytes_that_are_no_text(tree_of: TreeOf) -> None:
    odd = os.fsdecode(b"\xff")
    tree = tree_of(["renamed", odd, "plain"], keys=("somewhere//else", "base/odd", ""))
    assert [
        tree.etag_and_key(node.index, "base/")[1]
        for path in (b"renamed", b"\xff", b"plain")
        if (node := tree.lookup(path))
    ] == ["somewhere//else", "base/odd", "base/plain"]
    assert names_in(tree, "") == ["plain", "renamed", odd]


def test_nothing_at_all(tree_of: TreeOf) -> None:
    tree = tree_of([])
    assert names_in(tree, "") == []
    root = tree.lookup(b"")
    assert root is not None
    assert root.inode == ROOT_INODE
    assert tree.lookup(b"a") is None


@pytest.mark.parametrize("damage", [lambda data: b"x" + data[1:], lambda data: data[:-8]])
def test_a_damaged_index_is_refused(tree_of: TreeOf, tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    tree_of(["a", "b"])
    index = tmp_path / "index"
    damaged = tmp_path / "damaged"
    damaged.write_bytes(damage(index.read_bytes()))
    with pytest.raises(ValueError, match="damaged"):
        Tree(str(damaged))
