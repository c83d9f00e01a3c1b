"""Several processes at one cache, and processes that die in the middle of a download."""

import os
import signal
import subprocess
import sys
from errno import ENOSPC
from pathlib import Path
from types import FrameType

import pytest
from tests.unit.data.channels.cache.shelf import Shelf, files

from smlocal.jobs.decide.events import StagingStoppedError

ROOT = Path(__file__).parents[5]
DATA = {f"folder-{number % 3}/{number}": b"%d" % number * 500 for number in range(60)}

# Says how many objects it downloaded; each of them takes a moment, so that all are at it at once. One of them, if its
# number is given, takes longer than the others wait.
GET_TREE = """
import os, sys, time
from collections.abc import Mapping
from pathlib import Path
from smlocal.data.channels.cache.folder import Cache
from tests.unit.data.channels.cache.shelf import Shelf
from tests.unit.data.channels.cache.test_processes import DATA

class Slow(dict[str, bytes]):
    def __getitem__(self, path: str) -> bytes:
        self.begun = getattr(self, "begun", 0) + 1
        print("downloading", flush=True)
        time.sleep(600 if self.begun == int(sys.argv[3]) else float(sys.argv[2]))
        return super().__getitem__(path)

sys.stdin.readline()
shelf = Shelf(cache=Cache(home=sys.argv[1]))
root = shelf.get_tree(Slow(DATA), job=f"job-{os.getpid()}")
print(len(shelf.downloaded), root)
"""


def begin(shelf: Shelf, seconds: float, *, stuck_at: int = 0) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", GET_TREE, shelf.cache.home, str(seconds), str(stuck_at)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def await_first_byte(process: "subprocess.Popen[str]") -> None:
    """Let it begin, and wait until it downloads."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    process.stdin = None
    process.stdout.readline()


@pytest.mark.slow
def test_of_several_processes_that_want_the_same_one_downloads_it(shelf: Shelf) -> None:
    processes = [begin(shelf, 0.005) for _ in range(5)]
    for process in processes:
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None
    said = [process.communicate()[0].splitlines()[-1].split() for process in processes]
    assert [process.returncode for process in processes] == [0] * 5
    assert sorted(int(count) for count, _ in said) == [0, 0, 0, 0, len(DATA)]
    (root,) = {root for _, root in said}
    assert files(Path(root)) == DATA
    assert os.listdir(shelf.cache.partial) == []


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("objects", [1, 20])
def test_a_process_killed_while_it_downloads_leaves_nothing_in_the_way(shelf: Shelf, objects: int) -> None:
    process = begin(shelf, 0.01, stuck_at=objects)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    for _ in range(objects):
        assert process.stdout.readline() == "downloading\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    (lock, _) = sorted(os.listdir(shelf.cache.partial), reverse=True)
    assert lock.endswith(".lock")
    # The next download sweeps it, even of something else.
    shelf.get_tree({"other": b"other"}, job="other")
    assert os.listdir(shelf.cache.partial) == []
    shelf.downloaded.clear()
    root = shelf.get_tree(DATA)
    assert root is not None
    assert files(root) == DATA
    # Complete files are not downloaded again.
    assert len(shelf.downloaded) <= len(DATA) - objects + 1


def test_the_same_download_begins_again_where_one_was_killed(shelf: Shelf) -> None:
    process = begin(shelf, 0.01, stuck_at=1)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    process.stdout.readline()
    process.kill()
    process.wait()
    process.stdout.close()
    root = shelf.get_tree(DATA)
    assert root is not None
    assert files(root) == DATA
    assert os.listdir(shelf.cache.partial) == []


@pytest.mark.slow
def test_what_a_living_process_downloads_is_not_swept(shelf: Shelf) -> None:
    process = begin(shelf, 0.05)
    await_first_byte(process)
    shelf.get_tree({"other": b"other"}, job="other")
    said = process.communicate()[0].splitlines()[-1].split()
    assert process.returncode == 0
    assert files(Path(said[1])) == DATA


@pytest.mark.slow(0.5)
def test_a_signal_ends_the_waiting_for_another_process(shelf: Shelf) -> None:
    process = begin(shelf, 0.01, stuck_at=1)
    await_first_byte(process)

    def stop(number: int, frame: FrameType | None) -> None:
        raise InterruptedError(number, frame)

    before = signal.signal(signal.SIGALRM, stop)
    limit = signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(InterruptedError):
            shelf.get_tree(DATA)
    finally:
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, *limit)  # the time limit of the test itself
        process.kill()
        process.communicate()
    assert shelf.downloaded == []


@pytest.mark.slow(0.5)
def test_a_request_ends_the_waiting_for_another_process(shelf: Shelf) -> None:
    """As of a job of the Python API, which no signal breaks off."""
    process = begin(shelf, 0.01, stuck_at=1)
    await_first_byte(process)
    checks: list[int] = []

    def check() -> None:
        checks.append(1)
        if len(checks) == 2:
            raise StagingStoppedError

    try:
        with pytest.raises(StagingStoppedError):
            shelf.get_tree(DATA, check=check)
    finally:
        process.kill()
        process.communicate()
    assert shelf.downloaded == []
    root = shelf.get_tree(DATA)
    assert root is not None
    assert files(root) == DATA


class Breaking(dict[str, bytes]):
    """Data in whose middle something happens."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(DATA)
        self._error = error

    def __getitem__(self, path: str) -> bytes:
        if path == "folder-1/31":
            raise self._error
        return super().__getitem__(path)


def test_a_download_that_is_broken_off_goes_on_where_it_was(shelf: Shelf) -> None:
    with pytest.raises(KeyboardInterrupt):
        shelf.get_tree(Breaking(KeyboardInterrupt()))
    assert os.listdir(shelf.cache.partial) == []
    assert os.listdir(shelf.cache.trees) == []
    assert len(shelf.downloaded) == 31
    root = shelf.get_tree(DATA)
    assert root is not None
    assert files(root) == DATA
    assert shelf.downloaded == list(DATA)


def test_on_a_full_disk_nothing_is_left(shelf: Shelf) -> None:
    with pytest.raises(OSError, match="No space left"):
        shelf.get_tree(Breaking(OSError(ENOSPC, os.strerror(ENOSPC))))
    assert not [path for path in shelf.root.rglob("*") if path.is_file() and path.name != "lock"]


def test_a_file_that_was_not_whole_when_its_process_was_killed_is_not_taken_for_one(shelf: Shelf) -> None:
    whole = shelf.get_tree(DATA)
    assert whole is not None
    blob = next(path for path in shelf.root.glob("blobs/*/*") if path.samefile(whole / "folder-0/30"))
    for path in (*shelf.root.glob("blobs/*/*"), whole.parent / "about.json"):
        path.unlink()
    new = shelf.root / "partial" / whole.parent.name / "new"
    new.mkdir(parents=True)
    (new / blob.name).write_bytes(b"30")
    (new / f".smlocal-{'0' * 16}").write_bytes(b"30")
    (whole / "more").touch()  # so that it is made anew
    shelf.end("job")
    shelf.downloaded.clear()
    again = shelf.get_tree(DATA)
    assert again is not None
    assert files(again) == DATA
    assert "folder-0/30" in shelf.downloaded
    assert os.listdir(shelf.cache.partial) == []
