"""The way from a file to a FIFO, even where the kernel knows no short one."""

import os
import random
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from smlocal.data.channels.pipe.fifo import FifoReaderGoneError, FifoWriter, Stop, StoppedError

CONTENT = random.Random(1).randbytes(3_000_000)


@pytest.fixture
def stop() -> Iterator[Stop]:
    stop = Stop()
    yield stop
    stop.close()


@pytest.fixture
def file(tmp_path: Path) -> Iterator[int]:
    (tmp_path / "file").write_bytes(CONTENT)
    descriptor = os.open(tmp_path / "file", os.O_RDONLY)
    yield descriptor
    os.close(descriptor)


def read_all(descriptor: int, into: list[bytes]) -> threading.Thread:
    def read() -> None:
        while piece := os.read(descriptor, 100_000):
            into.append(piece)
        os.close(descriptor)

    thread = threading.Thread(target=read)
    thread.start()
    return thread


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_pieces_large_and_small_arrive_in_order(stop: Stop, file: int, kind: str) -> None:
    """A socket cannot be spliced to from a file: that is the way of file systems which cannot either."""
    if kind == "pipe":
        reading, writing = os.pipe()
    else:
        reading, writing = (end.detach() for end in socket.socketpair())
    found: list[bytes] = []
    thread = read_all(reading, found)
    outlet = FifoWriter(writing, stop)
    expected = b""
    for start, count in ((0, 2_000_000), (5, 7), (100, 20_000), (0, 70_000), (2_999_000, 1000), (0, 3_000_000)):
        outlet.write(b"<%d>" % start)
        assert outlet.splice(file, start, count) == count
        outlet.write(CONTENT[:count])
        expected += b"<%d>" % start + CONTENT[start : start + count] + CONTENT[:count]
    assert outlet.splice(file, 2_999_999, 3) == 1
    assert outlet.splice(file, 2_900_000, 3_000_000) == 100_000
    outlet.flush()
    outlet.close()
    thread.join()
    assert b"".join(found) == expected + CONTENT[-1:] + CONTENT[-100_000:]


@pytest.mark.parametrize("way", ["write", "splice"])
def test_a_reader_that_goes(stop: Stop, file: int, way: str) -> None:
    reading, writing = os.pipe()
    outlet = FifoWriter(writing, stop)
    threading.Timer(0.1, os.close, [reading]).start()
    with pytest.raises(FifoReaderGoneError):
        outlet.write(CONTENT) if way == "write" else outlet.splice(file, 0, len(CONTENT))
    outlet.close()


@pytest.mark.parametrize("way", ["write", "splice"])
def test_a_stop(stop: Stop, file: int, way: str) -> None:
    reading, writing = os.pipe()
    outlet = FifoWriter(writing, stop)
    threading.Timer(0.1, stop.set).start()
    with pytest.raises(StoppedError):
        outlet.write(CONTENT) if way == "write" else outlet.splice(file, 0, len(CONTENT))
    outlet.close()
    os.close(reading)
