import os
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from smlocal.base.files import Opener, remove_tree
from smlocal.data.artifacts.tree import merge, open_if_present, walk

Plant = Callable[..., Path]


def paths_of(root: Path) -> list[bytes]:
    return [entry.path for entry in walk("algo-1", str(root)).entries]


def test_a_directory_is_followed_by_all_that_is_in_it(tmp_path: Path) -> None:
    for name in ("a/b", "a-b", "a.b", "a/b/c", "B"):
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
    assert paths_of(tmp_path) == [b"B", b"a", b"a/b", b"a/b/c", b"a-b", b"a.b"]


def test_links_are_not_followed_and_hard_links_are_files(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("s")
    root = tmp_path / "root"
    root.mkdir()
    (root / "directory").symlink_to(outside)
    (root / "dangling").symlink_to("nowhere")
    (root / "one").write_text("data")
    (root / "two").hardlink_to(root / "one")
    tree = walk("algo-1", str(root))
    assert [(e.path, e.target, e.is_file, e.size) for e in tree.entries] == [
        (b"dangling", b"nowhere", False, 0),
        (b"directory", os.fsencode(outside), False, 0),
        (b"one", b"", True, 4),
        (b"two", b"", True, 4),
    ]


def test_what_no_archive_carries_is_left_out_with_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)  # the path of a socket may not be long
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("sock")
        tree = walk("algo-2", str(tmp_path))
    assert tree.entries == ()
    assert tree.skipped == ("algo-2: pipe is a FIFO and was skipped", "algo-2: sock is a socket and was skipped")


def test_a_directory_that_was_deleted_holds_nothing(tmp_path: Path) -> None:
    tree = walk("algo-1", str(tmp_path / "deleted"))
    assert (tree.entries, tree.skipped) == ((), ())


def test_a_host_without_any_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        walk("algo-1", str(tmp_path / "nowhere" / "data"))


@pytest.mark.parametrize("end", ["", "/"])
def test_a_link_in_place_of_the_directory_is_not_followed(tmp_path: Path, end: str) -> None:
    (tmp_path / "host").mkdir()
    (tmp_path / "host" / "secret").write_text("s")
    (tmp_path / "data").symlink_to(tmp_path / "host")
    tree = walk("algo-1", f"{tmp_path}/data{end}")
    assert tree.entries == ()
    assert tree.skipped == ("algo-1: data is a link instead of a folder: its files were not kept",)


def test_a_file_in_place_of_the_directory_is_told(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    tree = walk("algo-1", f"{tmp_path}/data")
    assert tree.skipped == ("algo-1: data is a file instead of a folder: its files were not kept",)


@pytest.mark.parametrize("swapped", ["data", "data/a", "data/a/b"])
def test_a_folder_that_becomes_a_link_after_the_walk_is_not_followed(tmp_path: Path, swapped: str) -> None:
    for root in ("data", "host"):
        (tmp_path / root / "a" / "b").mkdir(parents=True)
        (tmp_path / root / "a" / "b" / "file").write_text(root)
    tree = walk("algo-1", f"{tmp_path}/data")
    file = tree.entries[-1]
    assert file.path == b"a/b/file"
    (tmp_path / swapped).rename(tmp_path / "aside")
    (tmp_path / swapped).symlink_to(tmp_path / swapped.replace("data", "host", 1))
    notes: list[str] = []
    found = open_if_present(replace(tree, opener=Opener(tree.root)), file, notes)
    assert found is None
    assert notes == ["algo-1: a/b/file was deleted before it could be saved"]


@pytest.mark.slow(0.5)
def test_a_tree_deeper_than_files_may_be_open(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    folder = os.open(data, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d", dir_fd=folder)
        below = os.open("d", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = below
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=folder))
    os.close(folder)
    tree = walk("algo-1", str(data))
    assert len(tree.entries) == 1501
    descriptor = open_if_present(tree, tree.entries[-1], [])
    assert descriptor is not None
    os.close(descriptor)
    remove_tree(str(data))


def test_later_hosts_win_and_clashes_are_told(tmp_path: Path) -> None:
    for host, files in {"algo-1": ["same", "one", "d/x"], "algo-2": ["same", "two", "d/y"]}.items():
        for name in files:
            (tmp_path / host / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / host / name).write_text(host)
    merged, clashes = merge([walk(host, str(tmp_path / host)) for host in ("algo-1", "algo-2")])
    assert [(entry.path, tree.host) for tree, entry in merged] == [
        (b"d", "algo-2"),
        (b"d/x", "algo-1"),
        (b"d/y", "algo-2"),
        (b"one", "algo-1"),
        (b"same", "algo-2"),
        (b"two", "algo-2"),
    ]
    assert [(c.path, c.loser, c.winner) for c in clashes] == [("same", "algo-1", "algo-2")]
    assert "algo-1" in str(clashes[0])
    assert "algo-2" in str(clashes[0])


@pytest.mark.parametrize("directory_first", [True, False])
def test_a_file_against_a_directory(tmp_path: Path, directory_first: bool) -> None:
    for host in ("algo-1", "algo-2"):
        (tmp_path / host).mkdir()
    with_directory, with_file = ("algo-1", "algo-2") if directory_first else ("algo-2", "algo-1")
    (tmp_path / with_directory / "x" / "deep").mkdir(parents=True)
    (tmp_path / with_directory / "x" / "deep" / "file").write_text("")
    (tmp_path / with_directory / "x-not").write_text("")
    (tmp_path / with_file / "x").write_text("")
    merged, clashes = merge([walk(host, str(tmp_path / host)) for host in ("algo-1", "algo-2")])
    expected = [b"x", b"x-not"] if directory_first else [b"x", b"x/deep", b"x/deep/file", b"x-not"]
    assert [entry.path for _, entry in merged] == expected
    assert [(c.path, c.winner) for c in clashes] == [("x", "algo-2")]
