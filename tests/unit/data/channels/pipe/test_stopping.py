"""The end of a feed, whatever its threads are doing; that nothing stays is seen to by the fixture."""

import os
import random
import threading
from collections.abc import Callable
from typing import Any

Feeding = Callable[..., Any]
FILES = {"large": random.Random(1).randbytes(4_000_000)}


def test_while_nobody_reads(feeding: Feeding) -> None:
    feed = feeding(FILES)
    feed.feeder.stop()
    assert feed.broken == []


def test_before_the_start(feeding: Feeding) -> None:
    feeding(FILES, start=False).feeder.stop()


def test_before_anything(feeding: Feeding) -> None:
    feeding(FILES, prepare=False).feeder.stop()


def test_twice_and_no_start_afterwards(feeding: Feeding) -> None:
    feed = feeding(FILES, start=False)
    feed.feeder.stop()
    feed.feeder.start()
    feed.feeder.stop()


def test_while_a_reader_does_not_read(feeding: Feeding) -> None:
    feed = feeding(FILES)
    with feed.fifo(0).open("rb", buffering=0) as one:
        one.read(1)
        with feed.fifo(1).open("rb", buffering=0) as other:
            other.read(1)
            feed.feeder.stop()
        # The rest of the pipe may still be read, and then there is an end.
        assert len(one.readall() or b"") < len(FILES["large"]) - 1
    assert feed.broken == []


def test_while_a_reader_takes_all_that_comes(feeding: Feeding) -> None:
    feed = feeding({"endless": b""}, start=False)
    os.truncate(feed.source / "endless", 1 << 43)
    feed.feeder.start()
    timer = threading.Timer(0.2, feed.feeder.stop)
    timer.start()
    with feed.fifo(0).open("rb", buffering=0) as fifo:
        while fifo.read(1 << 20):
            pass  # until there is an end, which the file is too long for
    timer.join()
    assert feed.broken == []
