"""Odd files that a mirror may find at its target, which belongs to the user."""

import shutil

import pytest
from tests.kit import until
from tests.unit.data.artifacts.mirror.mirror_rig import Rigs, files_in, mirrors

from smlocal.data.artifacts.mirror import host_mirror
from smlocal.data.artifacts.mirror.target import FolderTarget


@pytest.mark.linux("the kernel tells what changes")
def test_a_target_that_cannot_be_written_is_tried_again(rig: Rigs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_mirror, "_RETRY_SECONDS", 0.2)
    made = rig()
    made.target.write_text("a file")
    made.target.rename(made.root / "aside")
    folder = made.start()
    (made.root / "aside").rename(made.target)
    (folder / "a").write_text("1")
    assert made.mirror is not None
    until(lambda: made.mirror is not None and bool(made.mirror.notes))
    made.target.unlink()
    until(mirrors(made, a="1"))
    made.finish()
    assert made.notes == ["algo-1: files could not be mirrored immediately: File exists"]


def test_a_target_that_the_user_deletes_is_made_again(rig: Rigs) -> None:
    made = rig()
    folder = made.start()
    (folder / "a").write_text("1")
    until(mirrors(made, a="1"))
    shutil.rmtree(made.target)
    (folder / "b").write_text("2")
    until(mirrors(made, b="2"))


def test_what_the_user_puts_at_the_target_stays(rig: Rigs) -> None:
    made = rig()
    folder = made.start()
    (folder / "d").mkdir()
    (folder / "d" / "a").write_text("1")
    until(mirrors(made, d__a="1"))
    (made.target / "d" / "mine").write_text("mine")
    shutil.rmtree(folder / "d")
    until(mirrors(made, d__mine="mine"))
    made.finish()
    assert files_in(made.target) == {"d/mine": b"mine"}


def test_a_link_at_the_target_is_not_followed(rig: Rigs) -> None:
    made = rig()
    elsewhere = made.root / "elsewhere"
    elsewhere.mkdir()
    folder = made.start()
    made.target.mkdir()
    (made.target / "d").symlink_to(elsewhere)
    (folder / "d").mkdir()
    (folder / "d" / "a").write_text("1")
    (folder / "b").write_text("2")
    until(lambda: made.mirrored().get("b") == b"2")
    report = made.finish()
    assert report.notes == ("d was a link at the destination and has been replaced by a folder",)
    assert files_in(made.target) == {"d/a": b"1", "b": b"2"}
    assert list(elsewhere.iterdir()) == []


def test_the_target_of_a_job_that_wrote_nothing_is_not_made(rig: Rigs) -> None:
    made = rig()
    made.start()
    made.finish()
    assert not made.target.exists()
    assert not FolderTarget(path=str(made.target), run_id="x").exists()
