"""Files opened below a folder that another process may change meanwhile."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from smlocal.base.files import Opener, held_folder, open_file, open_folder


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "top" / "inner").mkdir(parents=True)
    (tmp_path / "top" / "inner" / "file").write_text("ours")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "file").write_text("secret")
    return tmp_path / "top"


def content(descriptor: int) -> str:
    with open(descriptor) as file:
        return file.read()


def test_a_signal_in_the_middle_closes_no_descriptor_twice(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opener, close = Opener(str(tree)), os.close
    opener.directory(b"inner")
    (tree / "other").mkdir()

    def close_and_raise(descriptor: int) -> None:
        close(descriptor)
        raise KeyboardInterrupt

    for work in (lambda: opener.directory(b"other"), opener.close):
        with monkeypatch.context() as patched:
            patched.setattr(os, "close", close_and_raise)
            with pytest.raises(KeyboardInterrupt):
                work()
    reused = os.pipe()
    opener.close()
    for descriptor in reused:
        os.close(descriptor)


@pytest.mark.parametrize(
    "open_it",
    [
        lambda top, path: Opener(str(top)).file(os.fsencode(path)),
        lambda top, path: open_file(f"{top}/{path}"),
        lambda top, path: Opener(str(top), trusted=True).file(os.fsencode(path)),
    ],
)
def test_no_part_of_a_path_may_be_a_link(open_it: Callable[[Path, str], int], tree: Path) -> None:
    assert content(open_it(tree, "inner/file")) == "ours"
    (tree / "folder").symlink_to(tree.parent / "secret")
    (tree / "inner" / "link").symlink_to("file")
    for path in ("folder/file", "inner/link"):
        with pytest.raises(OSError, match=r"symbolic links|Not a directory"):
            open_it(tree, path)


def test_folders_are_made_only_where_there_is_no_link(tree: Path) -> None:
    opener = Opener(str(tree))
    os.close(opener.new_file(b"new/inner/file"))
    with pytest.raises(FileExistsError):
        opener.new_file(b"new/inner/file")
    (tree / "folder").symlink_to(tree.parent / "secret")
    with pytest.raises(NotADirectoryError):
        opener.new_file(b"folder/evil")
    with pytest.raises(NotADirectoryError):
        open_folder(f"{tree}/folder/evil", create=True)
    assert os.listdir(tree.parent / "secret") == ["file"]


@pytest.mark.linux("elsewhere a folder that was checked is used by its name")
def test_a_held_folder_is_the_same_when_its_name_leads_elsewhere(tree: Path) -> None:
    with held_folder(f"{tree}/inner") as held:
        (tree / "inner").rename(tree / "moved")
        (tree / "inner").symlink_to(tree.parent / "secret")
        Path(held, "new").write_text("")
        assert Path(held, "file").read_text() == "ours"
    assert (tree / "moved" / "new").exists()
    assert os.listdir(tree.parent / "secret") == ["file"]


def test_a_name_that_changes_all_the_time_never_leads_out(tree: Path) -> None:
    """A process with the right to write exchanges the folder with a link, as often as it is opened."""
    (tree / "link").symlink_to(tree.parent / "secret")
    ended = threading.Event()

    def exchange() -> None:
        while not ended.is_set():
            for one, other in (("inner", "aside"), ("link", "inner"), ("inner", "link"), ("aside", "inner")):
                os.rename(tree / one, tree / other)

    thread = threading.Thread(target=exchange)
    thread.start()
    try:
        for _ in range(3000):
            try:
                found = content(Opener(str(tree)).file(b"inner/file"))
            except OSError:
                continue
            assert found == "ours"
    finally:
        ended.set()
        thread.join()
