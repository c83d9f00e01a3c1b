"""A feeder on real FIFOs in this process, and readers of the kinds that are in use."""

import os
import select
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from smlocal.data.channels.pipe.feeder import PipeFeeder
from smlocal.data.sources.local_listing import list_source
from smlocal.data.sources.s3.interface import ObjectStore
from smlocal.sagemaker.training.running import RUNNING
from smlocal.terms.channels import PipePlan
from smlocal.terms.statuses import Failure


@dataclass(kw_only=True)
class Feed:
    """A started feeder, and what it says of its end."""

    feeder: PipeFeeder
    source: Path
    folder: Path
    spool: Path
    name: str
    broken: list[tuple[str, str]] = field(default_factory=list)
    breaking: threading.Event = field(default_factory=threading.Event)

    def fifo(self, epoch: int) -> Path:
        return self.folder / f"{self.name}_{epoch}"

    def read(self, epoch: int) -> bytes:
        """As `cat` does, but not for ever."""
        pieces = []
        with self.fifo(epoch).open("rb", buffering=0) as fifo:
            while not self.broken and select.select([fifo], [], [], 60)[0] and (piece := fifo.read(1 << 20)):
                pieces.append(piece)
        assert self.broken == []
        return b"".join(pieces)

    def reason(self) -> str:
        """Wait until the feeder gives up; why it did."""
        assert self.breaking.wait(60)
        (said,) = self.broken
        return said[0]


Feeding = Callable[..., Feed]


def no_store() -> ObjectStore:
    pytest.fail("nothing is in S3")


def write_files(folder: Path, files: Mapping[str, bytes]) -> Path:
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        if not (folder / path).exists():
            (folder / path).write_bytes(content)
    return folder


@pytest.fixture
def feeding(tmp_path: Path) -> Iterator[Feeding]:
    """Makes a feeder of some files, starts it unless told otherwise, and sees that nothing of it stays."""
    feeds: list[Feed] = []
    before = set(threading.enumerate())

    def make(
        files: Mapping[str, bytes],
        *,
        prepare: bool = True,
        start: bool = True,
        name: str = "train",
        spool: Path = tmp_path / "spool",
        delay: int = 0,
        **plan: Any,
    ) -> Feed:
        source = write_files(tmp_path / "data", files)
        folder = tmp_path / "input"
        folder.mkdir(exist_ok=True)
        only = f"/{next(iter(files))}" if plan.get("attributes") else ""
        feed: Feed

        def broken(failure: Failure, explanation: str) -> None:
            feed.broken.append((RUNNING.reason(failure), explanation))
            feed.breaking.set()

        listing = list_source(f"{source}{only}", channel=name, directory="/", mapping={}, region="r", role="a")
        feeder = PipeFeeder(
            PipePlan(name=name, uri="s3://b/p", target=f"/opt/ml/input/data/{name}", listing=listing, **plan),
            directory=str(folder),
            spool=str(spool),
            store=no_store,
            broken=broken,
            delay=delay,
        )
        feed = Feed(feeder=feeder, source=source, folder=folder, spool=spool, name=name)
        feeds.append(feed)
        if prepare:
            feeder.prepare()
        if prepare and start:
            feeder.start()
        return feed

    if not Path("/proc/self/fd").is_dir():
        pytest.skip("Linux: the FIFOs of Pipe channels; elsewhere such channels are refused")
    descriptors = set(os.listdir("/proc/self/fd"))
    yield make
    for feed in feeds:
        feed.feeder.stop()
    assert set(threading.enumerate()) <= before
    assert set(os.listdir("/proc/self/fd")) <= descriptors


@pytest.fixture
def read_as_tensorflow() -> Callable[[Path], bytes]:
    """`stat` until the FIFO is there, a blocking open, pieces of 64 KiB: PipeModeDataset."""

    def read(path: Path) -> bytes:
        for _ in range(600):
            if path.exists():
                break
            time.sleep(0.1)
        descriptor = os.open(path, os.O_RDONLY)
        try:
            return b"".join(iter(lambda: os.read(descriptor, 64 << 10), b""))
        finally:
            os.close(descriptor)

    return read


@pytest.fixture
def read_as_mlio() -> Callable[[Path], bytes]:
    """A non-blocking open, `select` for up to a minute; a read of nothing is the end."""

    def read(path: Path) -> bytes:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        pieces: list[bytes] = []
        try:
            while True:
                ready, _, _ = select.select([descriptor], [], [], 60)
                assert ready, "no data for a minute"
                if not (piece := os.read(descriptor, 1 << 20)):
                    return b"".join(pieces)
                pieces.append(piece)
        finally:
            os.close(descriptor)

    return read
