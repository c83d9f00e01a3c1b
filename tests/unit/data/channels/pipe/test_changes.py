"""Objects that are not what they were when the channel was listed, or become something else on their way."""

import os
import random
import time
from collections.abc import Callable
from typing import Any

import pytest

Feeding = Callable[..., Any]
LARGE = random.Random(1).randbytes(8_000_000)


def reason(feed: Any, name: str, words: str) -> str:
    return f"ClientError: Data download failed:Unable to download object file://{feed.source}/{name} ({words})"


CHANGED = "PreconditionFailed: At least one of the pre-conditions you specified did not hold"


@pytest.mark.parametrize("plan", [{}, {"record_io": True}, {"gzip": True}])
def test_an_object_that_is_gone(feeding: Feeding, plan: dict[str, Any]) -> None:
    feed = feeding({"a": b"a"}, **plan)
    (feed.source / "a").unlink()
    with feed.fifo(0).open("rb", buffering=0):
        assert feed.reason() == reason(feed, "a", "NoSuchKey: The specified key does not exist.")


def test_an_object_that_became_a_fifo(feeding: Feeding) -> None:
    feed = feeding({"a": b"a"})
    (feed.source / "a").unlink()
    os.mkfifo(feed.source / "a")
    with feed.fifo(0).open("rb", buffering=0):
        assert feed.reason() == reason(feed, "a", "InternalError: is no longer a regular file")


@pytest.mark.parametrize("plan", [{}, {"record_io": True}])
@pytest.mark.parametrize("size", [0, 4_000_000, 9_000_000])
def test_an_object_of_another_size_while_it_is_sent(feeding: Feeding, plan: dict[str, Any], size: int) -> None:
    feed = feeding({"a": LARGE}, **plan)
    with feed.fifo(0).open("rb", buffering=0) as fifo:
        fifo.read(1)
        os.truncate(feed.source / "a", size)
        os.set_blocking(fifo.fileno(), False)
        while not feed.broken and fifo.read(1 << 20) != b"":
            time.sleep(0.001)
        assert feed.reason() == reason(feed, "a", CHANGED)


def test_an_object_that_is_replaced_before_its_turn_is_sent_as_it_is(feeding: Feeding) -> None:
    feed = feeding({"a": b"old"})
    (feed.source / "a").write_bytes(b"newer")
    assert feed.read(0) == b"newer"
