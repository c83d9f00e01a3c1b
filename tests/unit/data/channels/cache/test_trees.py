"""The tree that a job is handed: exactly its objects, once downloaded, and whole again whatever was done to it."""

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.unit.data.channels.cache.shelf import Shelf, files

from smlocal.data.channels.cache.get_tree import DamagedInUseError

DATA = {"a/b/deep": b"deep", "a/c": b"c" * 3000, "empty": b"", "ü + %41 '\"\n": b"odd"}


@pytest.fixture(params=[0o000, 0o077])
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


@pytest.mark.usefixtures("umask")
def test_a_tree_has_these_files_and_folders_in_the_modes_of_the_service(shelf: Shelf) -> None:
    root = shelf.get_tree(DATA, directories=("marker/below",))
    assert root is not None
    assert files(root) == DATA
    assert {str(each.relative_to(root)) for each in root.rglob("*") if each.is_dir()} == {
        "a",
        "a/b",
        "marker",
        "marker/below",
    }
    for path in (root, *root.rglob("*")):
        assert stat.S_IMODE(path.lstat().st_mode) == (0o755 if path.is_dir() else 0o644)
    assert stat.S_IMODE(shelf.root.stat().st_mode) == 0o700


def test_the_same_objects_are_downloaded_once(shelf: Shelf) -> None:
    first = shelf.get_tree(DATA, job="one")
    assert sorted(shelf.downloaded) == sorted(DATA)
    assert shelf.get_tree(DATA, job="two") == first
    assert len(shelf.downloaded) == len(DATA)


def test_of_changed_data_only_the_changes_are_downloaded_and_the_rest_lies_there_once(shelf: Shelf) -> None:
    first = shelf.get_tree(DATA)
    shelf.downloaded.clear()
    changed = {**DATA, "a/c": b"C" * 3000, "new": b"new"}
    second = shelf.get_tree(changed)
    assert first is not None
    assert second is not None
    assert sorted(shelf.downloaded) == ["a/c", "new"]
    assert files(first) == DATA
    assert files(second) == changed
    assert (first / "a/b/deep").samefile(second / "a/b/deep")


def test_a_selection_of_known_objects_downloads_nothing(shelf: Shelf) -> None:
    shelf.get_tree(DATA)
    shelf.downloaded.clear()
    part = {"a/c": DATA["a/c"]}
    root = shelf.get_tree(part)
    assert root is not None
    assert files(root) == part
    assert shelf.downloaded == []


def test_a_folder_marker_makes_another_tree(shelf: Shelf) -> None:
    assert shelf.get_tree(DATA) != shelf.get_tree(DATA, directories=("empty-folder",))


def test_another_prefix_with_the_same_paths_is_other_data(shelf: Shelf) -> None:
    shelf.get_tree({"x": b"1"}, prefix="a/")
    shelf.get_tree({"x": b"1"}, prefix="b/")
    assert shelf.downloaded == ["x", "x"]


def missing(root: Path) -> None:
    (root / "a/c").unlink()


def cut(root: Path) -> None:
    with (root / "a/c").open("r+b") as file:
        file.truncate(10)


def written(root: Path) -> None:
    (root / "a/c").write_bytes(b"X" * 3000)


def unreadable(root: Path) -> None:
    (root / "a/c").chmod(0)


def link(root: Path) -> None:
    (root / "a/c").unlink()
    (root / "a/c").symlink_to("b/deep")


def more(root: Path) -> None:
    (root / "more").write_bytes(b"")


def folder_gone(root: Path) -> None:
    shutil.rmtree(root / "a")


def locked_folder(root: Path) -> None:
    (root / "a").chmod(0o700)


def tree_gone(root: Path) -> None:
    shutil.rmtree(root.parent)


def data_gone(root: Path) -> None:
    shutil.rmtree(root)


def all_trees_gone(root: Path) -> None:
    shutil.rmtree(root.parents[1])


def blobs_gone(root: Path) -> None:
    shutil.rmtree(root.parents[2] / "blobs")
    missing(root)


def cache_gone(root: Path) -> None:
    shutil.rmtree(root.parents[2])


@pytest.mark.parametrize(
    "damage",
    [
        missing,
        cut,
        written,
        unreadable,
        link,
        more,
        folder_gone,
        locked_folder,
        tree_gone,
        data_gone,
        all_trees_gone,
        blobs_gone,
        cache_gone,
    ],
)
def test_damage_heals(shelf: Shelf, damage: Callable[[Path], None]) -> None:
    root = shelf.get_tree(DATA)
    assert root is not None
    shelf.end("job")
    damage(root)
    again = shelf.get_tree(DATA)
    assert again is not None
    assert files(again) == DATA
    shelf.downloaded.clear()
    assert shelf.get_tree(DATA) == again
    assert shelf.downloaded == []


def test_a_content_without_a_tree_that_was_changed_is_downloaded_again(shelf: Shelf) -> None:
    root = shelf.get_tree(DATA)
    assert root is not None
    written(root)
    shutil.rmtree(root.parent)
    shelf.downloaded.clear()
    again = shelf.get_tree(DATA)
    assert again is not None
    assert files(again) == DATA
    assert shelf.downloaded == ["a/c"]


def test_a_tree_without_its_description_is_still_good(shelf: Shelf) -> None:
    root = shelf.get_tree(DATA)
    assert root is not None
    (root.parent / "about.json").unlink()
    assert shelf.get_tree(DATA) == root
    assert len(shelf.downloaded) == len(DATA)


def test_a_damaged_tree_that_another_job_reads_is_left_alone(shelf: Shelf) -> None:
    root = shelf.get_tree(DATA, job="reader")
    assert root is not None
    more(root)
    with pytest.raises(DamagedInUseError):
        shelf.get_tree(DATA, job="other")
    assert (root / "more").exists()
    assert list(shelf.markers("other").iterdir()) == []
    shelf.end("reader")
    again = shelf.get_tree(DATA, job="other")
    assert again is not None
    assert files(again) == DATA


def test_where_no_link_can_be_made_contents_are_copied(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(source: str, place: str, *, follow_symlinks: bool) -> None:
        raise PermissionError(1, "Operation not permitted", source, place, follow_symlinks)

    monkeypatch.setattr(os, "link", no_links)
    root = shelf.get_tree(DATA)
    assert root is not None
    assert files(root) == DATA
    assert {each.stat().st_nlink for each in root.rglob("*") if each.is_file()} == {1}
    assert shelf.get_tree(DATA) == root
    assert len(shelf.downloaded) == len(DATA)
