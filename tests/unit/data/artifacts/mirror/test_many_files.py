"""Many files and folders, many events, lost events, and no events."""

import errno
import os
import resource
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.kit import until
from tests.unit.data.artifacts.mirror.mirror_rig import Rigs, files_in, mirrors

from smlocal.data.artifacts.mirror import host_mirror, inotify
from smlocal.data.artifacts.mirror import inotify as watches_module


def test_folders_that_are_filled_before_they_can_be_watched(rig: Rigs) -> None:
    made = rig()
    folder = made.start()
    script = "for i in $(seq 20); do mkdir -p $i/b/c/d && echo $i >$i/b/c/d/f; done"
    subprocess.run(["sh", "-c", script], cwd=folder, check=True)
    until(lambda: made.mirrored() == {f"{i}/b/c/d/f": f"{i}\n".encode() for i in range(1, 21)})
    shutil.rmtree(folder / "7")
    (folder / "8" / "b" / "c" / "d" / "g").write_text("g")
    until(lambda: "8/b/c/d/g" in made.mirrored() and not (made.target / "7").exists())
    assert made.finish().written == ()


@pytest.mark.slow(0.5)
def test_many_files(rig: Rigs) -> None:
    made = rig()
    folder = made.start()
    for number in range(20):
        (folder / f"{number}").mkdir()
        for each in range(50):
            (folder / f"{number}" / f"{each}").write_text(f"{number} {each}")
    # In the midst of it.
    until(lambda: sum(len(names) for _, _, names in os.walk(made.target)) >= 200)
    shutil.rmtree(folder / "10")
    made.finish()
    assert files_in(made.target) == files_in(folder)


@pytest.mark.slow(0.5)
@pytest.mark.linux("the kernel tells what changes")
def test_nothing_is_done_while_nothing_changes(rig: Rigs) -> None:
    made = rig()
    folder = made.start()
    for number in range(50):
        (folder / str(number)).write_text("1")
    until(lambda: len(made.mirrored()) == 50)
    (thread,) = (each for each in threading.enumerate() if each.name == "checkpoints-mirror")
    status = Path(f"/proc/self/task/{thread.native_id}/status")

    def switches() -> int:
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(lines["voluntary_ctxt_switches"]) + int(lines["nonvoluntary_ctxt_switches"])

    def sleeps_for_a_second() -> bool:
        before = switches()
        time.sleep(1)
        return switches() == before

    until(sleeps_for_a_second)  # what is always awake never does


@pytest.mark.slow(0.5)
@pytest.mark.linux("the kernel tells what changes")
def test_lost_events(rig: Rigs, monkeypatch: pytest.MonkeyPatch) -> None:
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
    until(mirrors(made, a="1", d__late="1"))
    assert None in told
    (folder / "d" / "new").write_text("1")
    until(mirrors(made, a="1", d__late="1", d__new="1"))


class NoMoreWatches(inotify.Inotify):
    """The kernel's answer when the user watches as many folders as may be."""

    def add(self, folder: int, mask: int) -> int:
        raise OSError(errno.ENOSPC, f"{folder} {mask}")


class NoMoreQueues(inotify.Inotify):
    """Its answer when the user has as many queues as may be."""

    def __init__(self) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("exhausted", [NoMoreWatches, NoMoreQueues])
def test_without_watches_it_looks_now_and_then(
    rig: Rigs, monkeypatch: pytest.MonkeyPatch, exhausted: type[inotify.Inotify]
) -> None:
    monkeypatch.setattr(host_mirror, "SCAN_SECONDS", 0.2)

    monkeypatch.setattr(watches_module, "Inotify", exhausted)
    made = rig()
    folder = made.start()
    (folder / "d").mkdir()
    (folder / "d" / "a").write_text("1")
    until(mirrors(made, d__a="1"))
    (folder / "d" / "a").write_text("22")
    (folder / "b").write_text("b")
    until(mirrors(made, d__a="22", b="b"))
    (folder / "d" / "a").unlink()
    until(mirrors(made, b="b"))
    made.finish()
    assert len(made.notes) == 1
    assert made.notes[0].endswith("they were scanned every 0.2 s instead")
    assert ("max_user_watches" in made.notes[0]) == (sys.platform == "linux")


def test_deep_trees(rig: Rigs) -> None:
    made = rig()
    folder = made.start()
    deep = "/".join(["d"] * 400)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    others = max(map(int, os.listdir("/dev/fd")))
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, others + 90), hard))
    try:
        (folder / deep).mkdir(parents=True)
        (folder / deep / "f").write_text("1")
        until((made.target / deep / "f").exists)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
