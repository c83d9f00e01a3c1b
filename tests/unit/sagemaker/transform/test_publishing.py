"""The output is moved to its folder, and no link there is followed."""

import os
from pathlib import Path

import pytest

from smlocal.sagemaker.transform.objects import move_outputs


def moved(tmp_path: Path, paths: dict[str, str], *, links: bool = True) -> int:
    """Files with these contents, by the paths that they are to have."""
    drafts = []
    for number, (path, content) in enumerate(paths.items()):
        draft = tmp_path / str(number)
        draft.write_text(content)
        drafts.append((str(draft), path))
    drafts.append((str(tmp_path / "absent"), "absent.out"))
    return move_outputs(iter(drafts), str(tmp_path / "out"), links=links, run_id="0a")


@pytest.mark.parametrize("links", [True, False])
def test_files_are_moved_and_replace_others(tmp_path: Path, *, links: bool) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.out").write_text("before")
    assert moved(tmp_path, {"a.out": "a", "deep/er/b.out": "b"}, links=links) == 2
    assert (tmp_path / "out" / "a.out").read_text() == "a"
    assert (tmp_path / "out" / "deep" / "er" / "b.out").read_text() == "b"
    assert sorted(os.listdir(tmp_path)) == ["out"]


@pytest.mark.parametrize("links", [True, False])
def test_a_link_is_replaced_and_never_followed(tmp_path: Path, *, links: bool) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "file").write_text("kept")
    out = tmp_path / "out"
    out.mkdir()
    (out / "a.out").symlink_to(elsewhere / "file")
    (out / "folder").symlink_to(elsewhere)
    assert moved(tmp_path, {"a.out": "a"}, links=links) == 1
    assert (out / "a.out").read_text() == "a"
    with pytest.raises(NotADirectoryError):
        moved(tmp_path, {"folder/b.out": "b"}, links=links)
    assert {path.name: path.read_text() for path in elsewhere.iterdir()} == {"file": "kept"}


def test_another_disk_gets_whole_files(tmp_path: Path) -> None:
    memory = Path("/dev/shm")
    if not memory.is_dir() or memory.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is no second disk")
    folder = memory / f"smlocal-transform-{os.getpid()}"
    draft = tmp_path / "draft"
    draft.write_text("a")
    try:
        assert move_outputs(iter([(str(draft), "x/a.out")]), str(folder), links=True, run_id="0a") == 1
        assert os.listdir(folder / "x") == ["a.out"]
        assert (folder / "x" / "a.out").read_text() == "a"
    finally:
        for path in (folder / "x" / "a.out", folder / "x", folder):
            path.unlink() if path.is_file() else path.rmdir()
    assert not draft.exists()
