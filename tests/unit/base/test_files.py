"""Files are written whole or not at all, and the room on a disk is known before a folder is."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import disk_usage

import pytest

from smlocal.base.files import DRAFT, free_bytes, replace_file, replacement


@pytest.fixture(autouse=True)
def umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def test_a_file_is_made_or_replaced(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for content in (b"one", b"another", b""):
        replace_file(str(path), content)
        assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["file"]


def test_in_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    replace_file("file", b"one")
    assert (tmp_path / "file").read_bytes() == b"one"


def test_until_the_end_of_the_block_the_old_file_is_there(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with replacement(str(path)) as file:
        file.write(b"ne")
        file.flush()
        (draft,) = (each for each in tmp_path.iterdir() if each != path)
        assert (draft.name.startswith(".file."), draft.name.endswith(DRAFT)) == (True, True)
        assert path.read_text() == "old"
        file.write(b"w")
    assert path.read_text() == "new"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_after_an_error_the_old_file_is_there_and_no_draft(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "file"
    path.write_text("old")

    def fail() -> None:
        with replacement(str(path)) as file:
            file.write(b"new")
            raise error

    with pytest.raises(error):
        fail()
    assert (os.listdir(tmp_path), path.read_text()) == (["file"], "old")


def test_a_process_that_is_killed_leaves_the_old_file_and_a_draft(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    program = """
import os, signal, sys
from smlocal.base.files import replacement
with replacement(sys.argv[1]) as file:
    file.write(b"new")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""
    ended = subprocess.run([sys.executable, "-c", program, path], check=False)
    assert ended.returncode == -signal.SIGKILL
    (draft,) = (each for each in tmp_path.iterdir() if each != path)
    assert (path.read_text(), draft.read_text()) == ("old", "new")
    replace_file(str(path), b"newer")  # the draft of another process is not an obstacle
    assert path.read_text() == "newer"


def test_an_error_of_the_system_leaves_no_draft(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        replace_file(str(tmp_path / "folder"), b"new")
    assert os.listdir(tmp_path) == ["folder"]
    with pytest.raises(FileNotFoundError):
        replace_file(str(tmp_path / "absent" / "file"), b"new")


@pytest.mark.parametrize(("mode", "expected"), [(0o666, 0o644), (0o600, 0o600)])
def test_the_mode_is_the_one_asked_for_and_never_wider(tmp_path: Path, mode: int, expected: int) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o640)
    with replacement(str(path), mode=mode) as file:
        assert os.fstat(file.fileno()).st_mode & 0o777 == expected
    assert path.stat().st_mode & 0o777 == expected


@pytest.mark.parametrize("synced", [False, True])
def test_it_is_on_the_disk_before_it_has_its_name_if_that_is_asked(
    tmp_path: Path, synced: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, bool]] = []
    path = tmp_path / "file"
    monkeypatch.setattr(os, "fsync", lambda number: seen.append((os.fstat(number).st_size, path.exists())))
    replace_file(str(path), b"four", synced=synced)
    assert seen == ([(4, False)] if synced else [])


@pytest.mark.parametrize("name", ["n" * 255, "é" * 127, "\udcff" * 255])
def test_a_file_with_the_longest_name(tmp_path: Path, name: str) -> None:
    replace_file(str(tmp_path / name), b"one")
    assert os.listdir(tmp_path) == [name]


def test_a_link_is_replaced_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")
    replace_file(str(tmp_path / "link"), b"new")
    assert ((tmp_path / "link").is_symlink(), (tmp_path / "target").read_text()) == (False, "old")


def test_free_bytes_where_a_path_is_or_will_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    total = disk_usage(tmp_path).total
    for path in (tmp_path, tmp_path / "file", tmp_path / "not" / "yet"):
        free = free_bytes(str(path))
        assert free is not None
        assert 0 < free <= total
    if sys.platform == "linux":
        assert free_bytes("/proc") == 0


def test_free_bytes_below_a_relative_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert free_bytes("not/yet") is not None
    assert free_bytes("") is not None
