"""Folders mirrored while somebody works in them."""

import errno
import os
import resource
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.artifacts.mirror_rig import Rig, files_in

from smlocal.artifacts import inotify
from smlocal.artifacts.mirror import host as host_module
from smlocal.artifacts.mirror import watches as watches_module
from smlocal.artifacts.mirror import writers
from smlocal.artifacts.mirror.journal import Journal
from smlocal.artifacts.mirror.place import FolderTarget
from smlocal.contract.checkpoints import Restored, Stamp

Wait = Callable[[Callable[[], bool]], None]


@pytest.fixture
def wait_until() -> Wait:
    """Polls for something that must come about within a minute."""

    def wait(condition: Callable[[], bool]) -> None:
        for _ in range(3000):
            if condition():
                return
            time.sleep(0.02)
        pytest.fail("it did not come about within a minute")

    return wait


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Callable[..., Rig]]:
    made: list[Rig] = []

    def make(hosts: int = 1, *, grows: bool = False) -> Rig:
        made.append(Rig(tmp_path / f"rig-{len(made)}", hosts, grows=grows))
        made[-1].root.mkdir()
        return made[-1]

    yield make
    for each in made:
        each.close()


def mirrors(rig: Rig, **files: str) -> Callable[[], bool]:
    """Holds once exactly these files are at the target."""
    wanted = {name.replace("__", "/"): content.encode() for name, content in files.items()}
    return lambda: rig.mirrored() == wanted


def test_new_changed_and_deleted_files(rig: Callable[..., Rig], wait_until: Wait) -> None:
    made = rig()
    folder = made.start()
    (folder / "a").write_text("1")
    wait_until(mirrors(made, a="1"))
    (folder / "a").write_text("2")
    (folder / "b").write_text("b")
    wait_until(mirrors(made, a="2", b="b"))
    (folder / "a").unlink()
    wait_until(mirrors(made, b="b"))
    assert made.finish().written == ()
    assert made.notes == []


def test_what_was_restored_stays_alone_until_it_changes(rig: Callable[..., Rig], wait_until: Wait) -> None:
    made = rig()
    made.target.mkdir()
    for name in ("kept", "changed", "gone"):
        (made.target / name).write_text("old")
    before = (made.target / "kept").stat()
    folder = made.start()
    (folder / "changed").write_text("new")
    (folder / "gone").unlink()
    wait_until(mirrors(made, kept="old", changed="new"))
    made.finish()
    assert (made.target / "kept").stat() == before


def test_renamed_files_and_folders(rig: Callable[..., Rig], wait_until: Wait) -> None:
    made = rig()
    folder = made.start()
    (folder / "draft").write_text("whole")
    wait_until(mirrors(made, draft="whole"))
    (folder / "draft").rename(folder / "final")
    wait_until(mirrors(made, final="whole"))
    (folder / "step").mkdir()
    (folder / "step" / "x").write_text("x")
    wait_until(mirrors(made, final="whole", step__x="x"))
    (folder / "step").rename(folder / "last")
    wait_until(mirrors(made, final="whole", last__x="x"))
    # The folder is watched under its new name, and the name that it had belongs to nobody.
    (folder / "last" / "y").write_text("y")
    wait_until(mirrors(made, final="whole", last__x="x", last__y="y"))
    (folder / "last").rename(made.root / "elsewhere")
    wait_until(mirrors(made, final="whole"))
    (made.root / "elsewhere" / "z").write_text("z")
    (folder / "after").write_text("after")
    wait_until(mirrors(made, final="whole", after="after"))
    assert made.finish().written == ()


def test_hard_links_are_files(rig: Callable[..., Rig], wait_until: Wait) -> None:
    made = rig()
    folder = made.start()
    (folder / "a").write_text("1")
    (folder / "b").hardlink_to(folder / "a")
    wait_until(mirrors(made, a="1", b="1"))


def test_folders_that_are_filled_before_they_can_be_watched(rig: Callable[..., Rig], wait_until: Wait) -> None:
    made = rig()
    folder = made.start()
    script = "for i in $(seq 50); do mkdir -p $i/b/c/d && echo $i >$i/b/c/d/f; done"
    subprocess.run(["sh", "-c", script], cwd=folder, check=True)
    wait_until(lambda: made.mirrored() == {f"{i}/b/c/d/f": f"{i}\n".encode() for i in range(1, 51)})
    shutil.rmtree(folder / "7")
    (folder / "8" / "b" / "c" / "d" / "g").write_text("g")
    wait_until(lambda: "8/b/c/d/g" in made.mirrored() and "7/b/c/d/f" not in made.mirrored())
    assert not (made.target / "7").exists()
    assert made.finish().written == ()


def test_a_file_is_not_shown_before_it_is_closed(rig: Callable[..., Rig], wait_until: Wait) -> None:
    made = rig()
    folder = made.start()
    with (folder / "slow").open("w") as slow:
        slow.write("half")
        slow.flush()
        (folder / "other").write_text("1")
        wait_until(mirrors(made, other="1"))
        # Compared as a whole it is seen, but somebody is still writing it.
        made.stop()
        made.resume()
        (folder / "other").write_text("2")
        wait_until(mirrors(made, other="2"))
        slow.write(" and half")
    wait_until(mirrors(made, other="2", slow="half and half"))


REWRITES = """
import os, sys
number = 0
while os.path.exists(sys.argv[2]):
    number += 1
    with open(sys.argv[1], "wb") as file:
        for _ in range(64):
            file.write(b"%09d\\n" % number * 100)
"""


def test_a_file_that_is_rewritten_all_the_time_is_seen_whole(rig: Callable[..., Rig], wait_until: Wait) -> None:
    made = rig()
    folder = made.start()
    going = made.root / "going"
    going.touch()
    seen: set[bytes] = set()
    writer = subprocess.Popen([sys.executable, "-c", REWRITES, str(folder / "hot"), str(going)])
    try:

        def seen_thrice() -> bool:
            content = made.mirrored().get("hot")
            if content is not None:
                assert len(content) == 64_000
                assert len(set(content.split())) == 1
                seen.add(content)
            return len(seen) == 3

        wait_until(seen_thrice)
    finally:
        going.unlink()
        writer.wait()
    made.finish()
    assert files_in(made.target) == files_in(folder)


def test_logs_are_mirrored_while_they_are_open(rig: Callable[..., Rig], wait_until: Wait) -> None:
    made = rig(grows=True)
    folder = made.start()
    with (folder / "events").open("w") as events:
        for count in range(1, 4):
            events.write("x")
            events.flush()
            wait_until(mirrors(made, events="x" * count))
        events.write("end")
    made.finish()
    assert files_in(made.target) == {"events": b"xxxend"}


def test_ten_thousand_files(rig: Callable[..., Rig], wait_until: Wait) -> None:
    made = rig()
    folder = made.start()
    for number in range(100):
        (folder / f"{number}").mkdir()
        for each in range(100):
            (folder / f"{number}" / f"{each}").write_text(f"{number} {each}")
    wait_until(lambda: sum(len(names) for _, _, names in os.walk(made.target)) >= 2_000)
    shutil.rmtree(folder / "50")
    made.finish()
    assert files_in(made.target) == files_in(folder)


def test_nothing_is_done_while_nothing_changes(rig: Callable[..., Rig], wait_until: Wait) -> None:
    made = rig()
    folder = made.start()
    for number in range(200):
        (folder / str(number)).write_text("1")
    wait_until(lambda: len(made.mirrored()) == 200)
    (thread,) = (each for each in threading.enumerate() if each.name == "checkpoints-mirror")
    status = Path(f"/proc/self/task/{thread.native_id}/status")

    def switches() -> int:
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(lines["voluntary_ctxt_switches"]) + int(lines["nonvoluntary_ctxt_switches"])

    before = -1

    def asleep() -> bool:
        nonlocal before
        before, last = switches(), before
        return before == last

    wait_until(asleep)
    time.sleep(1)
    assert switches() == before


def test_links_and_uploading_files_are_left_alone(rig: Callable[..., Rig], wait_until: Wait) -> None:
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
    wait_until(mirrors(made, last="1", restored="old"))
    made.finish()
    assert files_in(made.target) == {"last": b"1", "restored": b"old"}


def test_a_folder_that_becomes_a_link_is_not_followed(rig: Callable[..., Rig], wait_until: Wait) -> None:
    made = rig()
    folder = made.start()
    (folder / "d").mkdir()
    (folder / "d" / "f").write_text("mine")
    wait_until(mirrors(made, d__f="mine"))
    secret = made.root / "secret"
    secret.mkdir()
    (secret / "f").write_text("secret")
    (folder / "d").rename(folder / "e")
    (folder / "d").symlink_to(secret)
    (secret / "f").write_text("secret again")
    (folder / "e" / "g").write_text("g")
    wait_until(lambda: made.mirrored().get("e/g") == b"g")
    made.finish()
    assert b"secret" not in b"".join(files_in(made.target).values())


def test_a_whole_folder_that_goes_and_comes_again(
    rig: Callable[..., Rig], wait_until: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_module, "SCAN_SECONDS", 0.2)
    made = rig()
    folder = made.start()
    (folder / "a").write_text("1")
    wait_until(mirrors(made, a="1"))
    shutil.rmtree(folder)
    folder.mkdir()
    (folder / "b").write_text("2")
    wait_until(mirrors(made, b="2"))
    (folder / "c").write_text("3")
    wait_until(mirrors(made, b="2", c="3"))


def test_lost_events(rig: Callable[..., Rig], wait_until: Wait, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go = threading.Event(), threading.Event()
    told: list[str | None] = []
    read = watches_module.Watches.read

    def late(self: watches_module.Watches) -> Iterator[tuple[str | None, bytes, inotify.Event]]:
        begun.set()
        go.wait()
        for each in read(self):
            told.append(each[0])
            yield each

    monkeypatch.setattr(watches_module.Watches, "read", late)
    made = rig()
    folder = made.start()
    while not begun.is_set():  # before, nothing is watched, and nothing can be lost
        (folder / "a").write_text("1")
        time.sleep(0.01)
    (folder / "d").mkdir()
    for _ in range(int(Path("/proc/sys/fs/inotify/max_queued_events").read_text()) // 2):
        for name in ("a", "b"):  # in turn: what is alike becomes one event
            (folder / name).open("a").close()
    (folder / "d" / "late").write_text("1")
    (folder / "b").unlink()
    go.set()
    wait_until(mirrors(made, a="1", d__late="1"))
    assert None in told
    (folder / "d" / "new").write_text("1")
    wait_until(mirrors(made, a="1", d__late="1", d__new="1"))


class NoMoreWatches(inotify.Inotify):
    """What the kernel says when the user watches as many folders as may be."""

    def add(self, folder: int, mask: int) -> int:
        raise OSError(errno.ENOSPC, f"{folder} {mask}")


class NoMoreQueues(inotify.Inotify):
    """What it says when the user has as many queues as may be."""

    def __init__(self) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


@pytest.mark.parametrize("exhausted", [NoMoreWatches, NoMoreQueues])
def test_without_watches_it_looks_now_and_then(
    rig: Callable[..., Rig], wait_until: Wait, monkeypatch: pytest.MonkeyPatch, exhausted: type[inotify.Inotify]
) -> None:
    monkeypatch.setattr(host_module, "SCAN_SECONDS", 0.2)

    monkeypatch.setattr(watches_module, "Inotify", exhausted)
    made = rig()
    folder = made.start()
    (folder / "d").mkdir()
    (folder / "d" / "a").write_text("1")
    wait_until(mirrors(made, d__a="1"))
    (folder / "d" / "a").write_text("22")
    (folder / "b").write_text("b")
    wait_until(mirrors(made, d__a="22", b="b"))
    (folder / "d" / "a").unlink()
    wait_until(mirrors(made, b="b"))
    made.finish()
    assert len(made.notes) == 1
    assert "max_user_watches" in made.notes[0]


def test_hosts_share_the_target_and_see_nothing_of_each_other(rig: Callable[..., Rig], wait_until: Wait) -> None:
    made = rig(2)
    made.target.mkdir()
    for name in ("kept", "gone"):
        (made.target / name).write_text("old")
    first, second = made.start(), made.host(2)
    (first / "one").write_text("1")
    (second / "two").write_text("2")
    wait_until(mirrors(made, kept="old", gone="old", one="1", two="2"))
    (second / "gone").unlink()
    wait_until(mirrors(made, kept="old", one="1", two="2"))
    assert sorted(files_in(first)) == ["gone", "kept", "one"]
    assert sorted(files_in(second)) == ["kept", "two"]
    made.finish()
    assert sorted(files_in(made.target)) == ["kept", "one", "two"]


def test_the_last_host_to_write_wins_and_it_is_told(rig: Callable[..., Rig], wait_until: Wait) -> None:
    made = rig(2)
    first, second = made.start(), made.host(2)
    (second / "same").write_text("second")
    wait_until(mirrors(made, same="second"))
    (first / "same").write_text("first")
    wait_until(mirrors(made, same="first"))
    assert [str(clash) for clash in Journal.read(made.journal).clashes.values()] == [
        "same: both algo-2 and algo-1 wrote it; algo-1's was kept"
    ]
    # The word of one whose file is not there any more counts for nothing.
    (second / "same").unlink()
    (second / "done").write_text("1")
    wait_until(mirrors(made, same="first", done="1"))
    made.stop()
    (second / "same").write_text("last")
    report = made.finish()
    assert [(clash.loser, clash.winner) for clash in report.clashes] == [("algo-1", "algo-2")]
    assert files_in(made.target) == {"same": b"last", "done": b"1"}


def test_the_next_supervisor_knows_what_was_mirrored(rig: Callable[..., Rig], wait_until: Wait) -> None:
    made = rig()
    folder = made.start()
    for name in ("kept", "changed", "gone"):
        (folder / name).write_text("old")
    wait_until(mirrors(made, kept="old", changed="old", gone="old"))
    before = (made.target / "kept").stat()
    made.stop()
    (folder / "changed").write_text("new")
    (folder / "gone").unlink()
    (folder / "new").write_text("new")
    made.resume()
    wait_until(mirrors(made, kept="old", changed="new", new="new"))
    assert made.finish().written == ()
    assert (made.target / "kept").stat() == before


def test_what_was_mirrored_and_deleted_while_nobody_looked(rig: Callable[..., Rig], wait_until: Wait) -> None:
    made = rig()
    folder = made.start()
    (folder / "a").write_text("1")
    wait_until(mirrors(made, a="1"))
    made.stop()
    (folder / "a").unlink()
    assert made.finish().deleted == ("a",)
    assert files_in(made.target) == {}


def test_a_journal_whose_writer_was_killed(tmp_path: Path) -> None:
    path = str(tmp_path / "journal")
    stamp = Stamp(size=1, mtime_ns=2, inode=3)
    journal = Journal.read(path)
    journal.arriving("algo-1", "arriving")
    journal.arrived("algo-1", "odd \udcff\nname", stamp)
    journal.close()
    with (tmp_path / "journal").open("a") as file:
        file.write('["algo-1", "ha')
    journal = Journal.read(path)
    journal.arrived("algo-1", "later", stamp)
    journal.close()
    found = Journal.read(path).up_to_date("algo-1", Restored(directory="/x"))
    assert set(found.files) == {"arriving", "odd \udcff\nname", "later"}
    assert found.files["arriving"].size < 0
    assert found.files["later"] == stamp


def test_a_target_that_cannot_be_written_is_tried_again(
    rig: Callable[..., Rig], wait_until: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_module, "_TRY_AGAIN_SECONDS", (0.1, 0.2))
    made = rig()
    made.target.write_text("a file")
    made.target.rename(made.root / "aside")
    folder = made.start()
    (made.root / "aside").rename(made.target)
    (folder / "a").write_text("1")
    assert made.mirror is not None
    wait_until(lambda: made.mirror is not None and bool(made.mirror.notes))
    made.target.unlink()
    wait_until(mirrors(made, a="1"))
    made.finish()
    assert made.notes == ["algo-1: files could not be mirrored at once: File exists"]


def test_a_target_that_the_user_deletes_is_made_again(rig: Callable[..., Rig], wait_until: Wait) -> None:
    made = rig()
    folder = made.start()
    (folder / "a").write_text("1")
    wait_until(mirrors(made, a="1"))
    shutil.rmtree(made.target)
    (folder / "b").write_text("2")
    wait_until(mirrors(made, b="2"))


def test_what_the_user_puts_at_the_target_stays(rig: Callable[..., Rig], wait_until: Wait) -> None:
    made = rig()
    folder = made.start()
    (folder / "d").mkdir()
    (folder / "d" / "a").write_text("1")
    wait_until(mirrors(made, d__a="1"))
    (made.target / "d" / "mine").write_text("mine")
    shutil.rmtree(folder / "d")
    wait_until(mirrors(made, d__mine="mine"))
    made.finish()
    assert files_in(made.target) == {"d/mine": b"mine"}


def test_a_link_at_the_target_is_not_followed(rig: Callable[..., Rig], wait_until: Wait) -> None:
    made = rig()
    elsewhere = made.root / "elsewhere"
    elsewhere.mkdir()
    folder = made.start()
    made.target.mkdir()
    (made.target / "d").symlink_to(elsewhere)
    (folder / "d").mkdir()
    (folder / "d" / "a").write_text("1")
    (folder / "b").write_text("2")
    wait_until(lambda: made.mirrored().get("b") == b"2")
    report = made.finish()
    assert report.notes == ("d was a link at the destination and is a folder now",)
    assert files_in(made.target) == {"d/a": b"1", "b": b"2"}
    assert list(elsewhere.iterdir()) == []


def test_whether_somebody_writes(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("1")
    reader = os.open(path, os.O_RDONLY)
    try:
        assert writers.has_writer(reader) is False
        with path.open("a"):
            assert writers.has_writer(reader) is True
        assert writers.has_writer(reader) is False
    finally:
        os.close(reader)


def test_who_begins_to_write_is_not_held_up_and_ends_nobody(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("1")
    over = threading.Event()

    def write() -> None:
        while not over.is_set():
            path.write_text("2")

    writer = threading.Thread(target=write)
    writer.start()
    reader = os.open(path, os.O_RDONLY)
    answers = {writers.has_writer(reader) for _ in range(20_000)}
    over.set()
    writer.join()
    os.close(reader)
    assert False in answers


def test_deep_trees(rig: Callable[..., Rig], wait_until: Wait) -> None:
    made = rig()
    folder = made.start()
    deep = "/".join(["d"] * 400)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 100), hard))
    try:
        (folder / deep).mkdir(parents=True)
        (folder / deep / "f").write_text("1")
        wait_until((made.target / deep / "f").exists)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


NAMES = st.sampled_from(["a", "b", "c", "d"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), PATHS, st.text("xyz", max_size=3)),
        st.tuples(st.just("delete"), PATHS),
        st.tuples(st.just("rename"), PATHS, PATHS),
        st.tuples(st.just("link"), PATHS, PATHS),
        st.tuples(st.just("folder"), PATHS),
        st.tuples(st.just("pause")),
        st.tuples(st.just("crash")),
    ),
    max_size=25,
)


def carry_out(rig: Rig, folder: Path, operation: tuple[str, ...]) -> None:
    """Do it, if it can be done."""
    kind, *arguments = operation
    paths = [folder / argument for argument in arguments]
    try:
        if kind == "write":
            paths[0].parent.mkdir(parents=True, exist_ok=True)
            paths[0].write_text(arguments[1])
        elif kind == "delete":
            shutil.rmtree(paths[0]) if paths[0].is_dir() else paths[0].unlink()
        elif kind == "rename":
            paths[0].rename(paths[1])
        elif kind == "link":
            paths[1].hardlink_to(paths[0])
        elif kind == "folder":
            paths[0].mkdir(parents=True)
        elif kind == "pause":
            time.sleep(0.15)
        else:
            rig.stop()
            rig.resume()
    except OSError:
        pass


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(before=st.dictionaries(NAMES, st.text("xyz", max_size=3)), operations=OPERATIONS)
def test_whatever_is_done_the_target_is_the_same_in_the_end(
    rig: Callable[..., Rig], before: dict[str, str], operations: list[tuple[str, ...]]
) -> None:
    made = rig()
    made.target.mkdir()
    for name, content in before.items():
        (made.target / name).write_text(content)
    folder = made.start()
    for operation in operations:
        carry_out(made, folder, operation)
    made.finish()
    assert files_in(made.target) == files_in(folder)
    assert made.notes == []
    made.close()


def test_the_target_of_a_job_that_wrote_nothing_is_not_made(rig: Callable[..., Rig]) -> None:
    made = rig()
    made.start()
    made.finish()
    assert not made.target.exists()
    assert not FolderTarget(path=str(made.target), run_id="x").exists()
