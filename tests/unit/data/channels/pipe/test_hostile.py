"""The container is root in the folder of the FIFOs: nothing there may lead the feeder anywhere else."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smlocal.errors import StagingError

Feeding = Callable[..., Any]
FILES = {"a": bytes(3_000_000)}
TAKEN = (
    "ClientError: Data download failed:Failed to create /opt/ml/input/data/train_1: "
    "the name is already taken by something else"
)


def occupy(path: Path, kind: str, outside: Path) -> None:
    if kind == "file":
        path.write_bytes(b"theirs")
    elif kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to(outside if kind == "link" else outside.with_name("nowhere"))


KINDS = pytest.mark.parametrize("kind", ["file", "folder", "fifo", "link", "dangling link"])


@KINDS
def test_a_fifo_that_was_replaced_is_never_written_to(feeding: Feeding, tmp_path: Path, kind: str) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"mine")
    feed = feeding(FILES, start=False)
    with feed.fifo(0).open("rb+", buffering=0) as ours:  # a reader of the real one
        feed.fifo(0).unlink()
        occupy(feed.fifo(0), kind, outside)
        feed.feeder.start()
        assert ours.read(4) == bytes(4)
    feed.feeder.stop()
    assert outside.read_bytes() == b"mine"
    assert not outside.with_name("nowhere").exists()
    if kind == "file":
        assert feed.fifo(0).read_bytes() == b"theirs"


@KINDS
def test_a_name_that_is_taken_breaks_the_feed(feeding: Feeding, tmp_path: Path, kind: str) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"mine")
    feed = feeding(FILES, start=False)
    occupy(feed.fifo(1), kind, outside)
    feed.feeder.start()
    with feed.fifo(0).open("rb", buffering=0):
        assert feed.reason() == TAKEN
    assert outside.read_bytes() == b"mine"


def test_a_folder_that_is_gone_breaks_the_feed(feeding: Feeding) -> None:
    feed = feeding(FILES, start=False)
    with feed.fifo(0).open("rb+", buffering=0):
        feed.fifo(0).unlink()
        feed.folder.rmdir()
        feed.feeder.start()
        assert feed.reason() == "InternalServerError: We encountered an internal error. Please try again."


def test_a_name_that_is_taken_from_the_beginning(feeding: Feeding) -> None:
    feed = feeding(FILES, prepare=False)
    feed.fifo(0).touch()
    with pytest.raises(StagingError) as caught:
        feed.feeder.prepare()
    assert f"ClientError: {caught.value.sentence}" == TAKEN.replace("train_1", "train_0")


def test_after_a_failure_nobody_gets_an_end(feeding: Feeding) -> None:
    """Or a container that read half of its data would go on as if that were all."""
    feed = feeding({"a": b"a", "b": b"b"}, start=False)
    (feed.source / "b").unlink()
    feed.feeder.start()
    with feed.fifo(0).open("rb", buffering=0) as first:
        feed.reason()
        second = feed.fifo(1).open("rb", buffering=0)
        for fifo in (first, second):
            os.set_blocking(fifo.fileno(), False)
            assert fifo.read(1) is None  # nothing yet, where an end would be b""
        feed.feeder.stop()
        assert first.read(1) == second.read(1) == b""
        second.close()
