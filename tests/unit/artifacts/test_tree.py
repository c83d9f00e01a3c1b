import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from smlocal.artifacts.tree import merge, walk

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
    assert tree.skipped == ("algo-2: pipe is a FIFO and was left out", "algo-2: sock is a socket and was left out")


def test_no_directory_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        walk("algo-1", str(tmp_path / "nowhere"))


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
def test_a_file_against_a_directory(tmp_path: Path, directory_first: bool) -> None:  # noqa: FBT001 - a test's parameter
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
