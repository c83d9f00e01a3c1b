"""FIFOs that come late, as `Local.Faults` says."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.kit import until

Feeding = Callable[..., Any]
FILES = {"a": b"one", "b": b"two"}
COARSE = 0.02
"""Seconds: times of files are those of the kernel's last tick, which is up to 10 ms ago."""


@pytest.mark.slow(0.5)
def test_the_next_fifo_comes_after_the_delay(feeding: Feeding, read_as_tensorflow: Callable[[Path], bytes]) -> None:
    feed = feeding(FILES, delay=2)
    began = time.time()
    assert feed.read(0) == b"onetwo"
    until(feed.fifo(1).exists)
    assert feed.fifo(1).stat().st_mtime >= began + 2 - COARSE  # that is its birth: nothing has been written to it
    assert read_as_tensorflow(feed.fifo(1)) == b"onetwo"
    assert read_as_tensorflow(feed.fifo(2)) == b"onetwo"


@pytest.mark.slow(0.5)
def test_a_reader_that_leaves_early_waits_too(feeding: Feeding, read_as_tensorflow: Callable[[Path], bytes]) -> None:
    feed = feeding({"large": bytes(1 << 20)}, delay=2)
    began = time.time()
    with feed.fifo(0).open("rb", buffering=0) as fifo:
        fifo.read(1)
    until(feed.fifo(1).exists)
    assert feed.fifo(1).stat().st_mtime >= began + 2 - COARSE
    assert len(read_as_tensorflow(feed.fifo(1))) == 1 << 20


def test_a_stop_ends_the_delay(feeding: Feeding) -> None:
    feed = feeding(FILES, delay=3600)
    feed.read(0)
    feed.feeder.stop()  # which would wait for an hour
