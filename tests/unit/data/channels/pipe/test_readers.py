"""Every kind of reader that the contract knows of gets the same bytes, epoch after epoch."""

import os
import random
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Feeding = Callable[..., Any]
Reader = Callable[[Path], bytes]
FILES = {"a": b"first", "b/empty": b"", "b/large": random.Random(1).randbytes(3_000_001), "c": b"last"}
ALL = b"".join(FILES.values())


@pytest.fixture(params=["cat", "tensorflow", "mlio"])
def reader(request: pytest.FixtureRequest) -> Reader:
    if request.param == "cat":
        return Path.read_bytes
    found: Reader = request.getfixturevalue(f"read_as_{request.param}")
    return found


@pytest.fixture(params=[0o000, 0o077])
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def test_objects_run_together_in_order_in_every_epoch(feeding: Feeding, reader: Reader) -> None:
    feed = feeding(FILES)
    for epoch in range(4):
        assert reader(feed.fifo(epoch)) == ALL
    assert feed.broken == []


def test_ten_epochs_left_early_and_then_a_whole_one(feeding: Feeding, reader: Reader) -> None:
    feed = feeding(FILES)
    for epoch in range(10):
        with feed.fifo(epoch).open("rb", buffering=0) as fifo:
            assert fifo.read(5) == b"first"
    assert reader(feed.fifo(10)) == ALL
    assert feed.broken == []


def test_a_reader_that_is_there_before_the_feeder(feeding: Feeding, reader: Reader) -> None:
    feed = feeding(FILES, start=False)
    found: list[bytes] = []
    thread = threading.Thread(target=lambda: found.append(reader(feed.fifo(0))))
    thread.start()
    feed.feeder.start()
    thread.join()
    assert found == [ALL]


def test_the_next_epoch_can_be_read_while_this_one_is_held_open(feeding: Feeding, reader: Reader) -> None:
    feed = feeding(FILES)
    with feed.fifo(0).open("rb", buffering=0) as first:
        assert first.read(3) == b"fir"
        assert reader(feed.fifo(1)) == ALL
        with feed.fifo(2).open("rb", buffering=0) as third:
            third.read(1)
            assert reader(feed.fifo(3)) == ALL
        assert first.read(2) == b"st"


def test_before_the_first_byte_of_an_epoch_the_next_is_there(feeding: Feeding) -> None:
    feed = feeding(FILES)
    for epoch in range(5):
        with feed.fifo(epoch).open("rb", buffering=0) as fifo:
            fifo.read(1)
            assert stat.S_ISFIFO(feed.fifo(epoch + 1).lstat().st_mode)
            assert not feed.fifo(epoch + 2).exists()


def test_fifos_of_epochs_that_are_over_stay(feeding: Feeding) -> None:
    feed = feeding(FILES)
    for epoch in range(3):
        feed.read(epoch)
    assert sorted(path.name for path in feed.folder.iterdir()) == ["train_0", "train_1", "train_2", "train_3"]


@pytest.mark.usefixtures("umask")
def test_anybody_may_read_whatever_the_umask(feeding: Feeding) -> None:
    feed = feeding(FILES)
    feed.read(0)
    for epoch in range(2):
        assert stat.S_IMODE(feed.fifo(epoch).stat().st_mode) == 0o666


@pytest.mark.usefixtures("umask")
@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="needs a second file system")
def test_the_spool_may_be_on_another_disk(feeding: Feeding) -> None:
    feed = feeding(FILES, start=False, spool=Path("/dev/shm", f"smlocal-test-{os.getpid()}"))
    feed.feeder.start()
    assert feed.read(0) == ALL
    assert stat.S_IMODE(feed.fifo(1).stat().st_mode) == 0o666
    assert list(feed.spool.iterdir()) == []
    feed.spool.rmdir()


@pytest.mark.parametrize("files", [{"a": b""}, {"a": b"", "b": b""}])
def test_an_epoch_of_nothing_ends_at_once(feeding: Feeding, reader: Reader, files: dict[str, bytes]) -> None:
    feed = feeding(files)
    for epoch in range(3):
        assert reader(feed.fifo(epoch)) == b""


@pytest.mark.slow(0.5)
def test_a_thousand_small_files(feeding: Feeding, reader: Reader) -> None:
    files = {f"{number:04}": b"%d\n" % number * (number % 7) for number in range(1000)}
    assert reader(feeding(files).fifo(0)) == b"".join(files.values())


def test_channels_are_read_in_any_order(feeding: Feeding) -> None:
    feeds = [feeding(FILES, name=f"train_{number}") for number in range(4)]
    held = [feed.fifo(0).open("rb") for feed in reversed(feeds)]
    assert [file.read(1) for file in held] == [b"f"] * 4
    assert [file.read() for file in reversed(held)] == [ALL[1:]] * 4
    for file in held:
        file.close()
