"""Folders mirrored while somebody works in them."""

import os
import shutil
from pathlib import Path

import pytest
from tests.kit import until
from tests.unit.data.artifacts.mirror.mirror_rig import Rigs, files_in, mirrors

from smlocal.data.artifacts.mirror import host_mirror
from smlocal.data.artifacts.mirror.target import MirrorState
from smlocal.terms.checkpoints import Restored, Stamp


@pytest.mark.slow(0.5)
@pytest.mark.linux("the kernel tells what changes")
def test_new_changed_and_deleted_files(rig: Rigs) -> None:
    made = rig()
    folder = made.start()
    (folder / "a").write_text("1")
    until(mirrors(made, a="1"))
    (folder / "a").write_text("2")
    (folder / "b").write_text("b")
    until(mirrors(made, a="2", b="b"))
    (folder / "a").unlink()
    until(mirrors(made, b="b"))
    assert made.finish().written == ()
    assert made.notes == []


def test_what_was_restored_stays_alone_until_it_changes(rig: Rigs) -> None:
    made = rig()
    made.target.mkdir()
    for name in ("kept", "changed", "gone"):
        (made.target / name).write_text("old")
    before = (made.target / "kept").stat()
    folder = made.start()
    (folder / "kept").open("a").close()  # word of a change, and none
    (folder / "changed").write_text("new")
    (folder / "gone").unlink()
    until(mirrors(made, kept="old", changed="new"))
    made.finish()
    after = (made.target / "kept").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)  # it may have been read


@pytest.mark.slow(0.5)
def test_renamed_files_and_folders(rig: Rigs) -> None:
    made = rig()
    folder = made.start()
    (folder / "draft").write_text("whole")
    until(mirrors(made, draft="whole"))
    (folder / "draft").rename(folder / "final")
    until(mirrors(made, final="whole"))
    (folder / "step").mkdir()
    (folder / "step" / "x").write_text("x")
    until(mirrors(made, final="whole", step__x="x"))
    (folder / "step").rename(folder / "last")
    until(mirrors(made, final="whole", last__x="x"))
    # The folder is watched under its new name, and the name that it had belongs to nobody.
    (folder / "last" / "y").write_text("y")
    until(mirrors(made, final="whole", last__x="x", last__y="y"))
    (folder / "last").rename(made.root / "elsewhere")
    until(mirrors(made, final="whole"))
    (made.root / "elsewhere" / "z").write_text("z")
    (folder / "after").write_text("after")
    until(mirrors(made, final="whole", after="after"))
    assert made.finish().written == ()


def test_hard_links_are_files(rig: Rigs) -> None:
    made = rig()
    folder = made.start()
    (folder / "a").write_text("1")
    (folder / "b").hardlink_to(folder / "a")
    until(mirrors(made, a="1", b="1"))


def test_links_and_uploading_files_are_left_alone(rig: Rigs) -> None:
    made = rig()
    made.target.mkdir()
    (made.target / "restored").write_text("old")
    folder = made.start()
    secret = made.root / "secret"
    secret.mkdir()
    (secret / "key").write_text("secret")
    (folder / "link").symlink_to(secret / "key")
    (folder / "folder").symlink_to(secret)
    (folder / "a.sagemaker-uploading").write_text("half")
    os.mkfifo(folder / "fifo")
    (folder / "restored").unlink()
    (folder / "restored").symlink_to(secret / "key")
    (folder / "last").write_text("1")
    until(mirrors(made, last="1", restored="old"))
    made.finish()
    assert files_in(made.target) == {"last": b"1", "restored": b"old"}


def test_a_folder_that_becomes_a_link_is_not_followed(rig: Rigs) -> None:
    made = rig()
    folder = made.start()
    (folder / "d").mkdir()
    (folder / "d" / "f").write_text("mine")
    until(mirrors(made, d__f="mine"))
    secret = made.root / "secret"
    secret.mkdir()
    (secret / "f").write_text("secret")
    (folder / "d").rename(folder / "e")
    (folder / "d").symlink_to(secret)
    (secret / "f").write_text("secret again")
    (folder / "e" / "g").write_text("g")
    until(lambda: made.mirrored().get("e/g") == b"g")
    made.finish()
    assert b"secret" not in b"".join(files_in(made.target).values())


@pytest.mark.slow(0.5)
def test_a_whole_folder_that_goes_and_comes_again(rig: Rigs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_mirror, "SCAN_SECONDS", 0.2)
    made = rig()
    folder = made.start()
    (folder / "a").write_text("1")
    until(mirrors(made, a="1"))
    shutil.rmtree(folder)
    folder.mkdir()
    (folder / "b").write_text("2")
    until(mirrors(made, b="2"))
    (folder / "c").write_text("3")
    until(mirrors(made, b="2", c="3"))


def test_hosts_share_the_target_and_see_nothing_of_each_other(rig: Rigs) -> None:
    made = rig(2)
    made.target.mkdir()
    for name in ("kept", "gone"):
        (made.target / name).write_text("old")
    first, second = made.start(), made.host(2)
    (first / "one").write_text("1")
    (second / "two").write_text("2")
    until(mirrors(made, kept="old", gone="old", one="1", two="2"))
    (second / "gone").unlink()
    until(mirrors(made, kept="old", one="1", two="2"))
    assert sorted(files_in(first)) == ["gone", "kept", "one"]
    assert sorted(files_in(second)) == ["kept", "two"]
    made.finish()
    assert sorted(files_in(made.target)) == ["kept", "one", "two"]


@pytest.mark.slow(0.5)
def test_the_last_host_to_write_wins_and_it_is_told(rig: Rigs) -> None:
    made = rig(2)
    first, second = made.start(), made.host(2)
    (second / "same").write_text("second")
    until(mirrors(made, same="second"))
    (first / "same").write_text("first")
    until(mirrors(made, same="first"))
    # The state is written after the file.
    told = ["same: both algo-2 and algo-1 wrote it; algo-1's was kept"]
    until(lambda: [str(clash) for clash in MirrorState.read(made.state_path).clashes.values()] == told)
    # The word of one whose file is not there any more counts for nothing.
    (second / "same").unlink()
    (second / "done").write_text("1")
    until(mirrors(made, same="first", done="1"))
    made.stop()
    (second / "same").write_text("last")
    report = made.finish()
    assert [(clash.loser, clash.winner) for clash in report.clashes] == [("algo-1", "algo-2")]
    assert files_in(made.target) == {"same": b"last", "done": b"1"}


def test_the_next_supervisor_knows_what_was_mirrored(rig: Rigs) -> None:
    made = rig()
    folder = made.start()
    for name in ("kept", "changed", "gone"):
        (folder / name).write_text("old")
    until(mirrors(made, kept="old", changed="old", gone="old"))
    before = (made.target / "kept").stat()
    made.stop()
    (folder / "changed").write_text("new")
    (folder / "gone").unlink()
    (folder / "new").write_text("new")
    made.resume()
    until(mirrors(made, kept="old", changed="new", new="new"))
    assert made.finish().written == ()
    after = (made.target / "kept").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)  # it may have been read


def test_what_was_mirrored_and_deleted_while_nobody_looked(rig: Rigs) -> None:
    made = rig()
    folder = made.start()
    (folder / "a").write_text("1")
    until(mirrors(made, a="1"))
    made.stop()
    (folder / "a").unlink()
    assert made.finish().deleted == ("a",)
    assert files_in(made.target) == {}


def test_a_state_whose_writer_was_killed(tmp_path: Path) -> None:
    path = str(tmp_path / "state")
    stamp = Stamp(size=1, mtime_ns=2, inode=3)
    state = MirrorState.read(path)
    state.writing("algo-1", "being written")
    state.written("algo-1", "odd \udcff\nname", stamp)
    state.close()
    with (tmp_path / "state").open("a") as file:
        file.write('["algo-1", "ha')
    state = MirrorState.read(path)
    state.written("algo-1", "later", stamp)
    state.close()
    found = MirrorState.read(path).up_to_date("algo-1", Restored(directory="/x"))
    assert set(found.files) == {"being written", "odd \udcff\nname", "later"}
    assert found.files["being written"].size < 0
    assert found.files["later"] == stamp
