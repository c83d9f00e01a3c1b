"""Feeders of one host, where their bytes come from, and containers that read from their FIFOs."""

import select
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO
from uuid import uuid4

from tests.kit.s3_servers import S3Server, opened

from smlocal.data.channels.pipe.feeder import PipeFeeder
from smlocal.data.sources.local_listing import list_source
from smlocal.data.sources.s3.client import S3Client
from smlocal.sagemaker.training.running import RUNNING
from smlocal.terms.channels import PipePlan
from smlocal.terms.listing import Listing
from smlocal.terms.statuses import Failure

INPUT = "/opt/ml/input/data"


@dataclass(kw_only=True)
class Pipes:
    """Use `pipes_in`."""

    folder: Path
    image: Callable[[str], str]
    docker: Callable[..., str]
    feeders: list[PipeFeeder] = field(default_factory=list)
    stores: list[S3Client] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    breaking: threading.Event = field(default_factory=threading.Event)
    container: str = field(default_factory=lambda: f"smlocal-test-{uuid4().hex[:12]}")

    def feed(self, listing: Listing, *, name: str = "train", store: S3Client | None = None, **plan: Any) -> PipeFeeder:
        """A feeder that has been started; it stops with the test."""

        def given() -> S3Client:
            assert store is not None, "nothing is in S3"
            self.stores.append(store)
            return store

        def broken(failure: Failure, _explanation: str) -> None:
            self.broken.append(RUNNING.reason(failure))
            self.breaking.set()

        feeder = PipeFeeder(
            PipePlan(name=name, uri="", target=f"{INPUT}/{name}", listing=listing, **plan),
            directory=str(self.folder),
            spool=str(self.folder.with_name("spool")),
            store=given,
            broken=broken,
        )
        self.feeders.append(feeder)
        feeder.prepare()
        feeder.start()
        return feeder

    def fifo(self, epoch: int, name: str = "train") -> Path:
        return self.folder / f"{name}_{epoch}"

    def read(self, epoch: int = 0, name: str = "train") -> bytes:
        """All of an epoch."""
        with self.fifo(epoch, name).open("rb", buffering=0) as fifo:
            return b"".join(self.pieces(fifo))

    def pieces(self, fifo: BinaryIO) -> Iterator[bytes]:
        """The rest of an epoch, whose feeder must live to the end."""
        while True:
            if select.select([fifo], [], [], 0.1)[0]:
                if not (piece := fifo.read(1 << 20)):
                    return
                yield piece
            assert self.broken == [], self.broken

    def reason(self) -> str:
        """Read epoch 0 until the feeder gives up; why it did."""
        with self.fifo(0).open("rb", buffering=0) as fifo:
            while not self.breaking.wait(0.01):  # passes: between two reads
                fifo.read(1 << 20) if select.select([fifo], [], [], 0)[0] else None
        (said,) = self.broken
        return said

    def command(self, image: str, script: str, *options: str) -> list[str]:
        """A container that finds the FIFOs where the service would have them, and does what the script says."""
        mount = f"{self.folder}:{INPUT}"
        return [
            *("run", "--rm", "--name", self.container, "--network", "none", "--volume", mount, "--workdir", INPUT),
            *("--env", f"SCRIPT={script}", *options, self.image(image), "train"),
        ]

    def run(self, image: str, script: str, *options: str) -> str:
        """The output of the script."""
        return self.docker(*self.command(image, script, *options))


@contextmanager
def pipes_in(folder: Path, image: Callable[[str], str], docker: Callable[..., str]) -> Iterator[Pipes]:
    """Pipes whose FIFOs appear in this folder; sees that no thread of theirs stays."""
    folder.mkdir()
    pipes = Pipes(folder=folder, image=image, docker=docker)
    try:
        yield pipes
    finally:
        subprocess.run(["docker", "rm", "--force", pipes.container], capture_output=True, check=False)
        for feeder in pipes.feeders:
            feeder.stop()
        for thread in threading.enumerate():
            if thread.name.startswith(("s3-ahead", "smlocal-pipe")):
                thread.join(60)
        assert not [thread.name for thread in threading.enumerate() if thread.name.startswith("smlocal-pipe")]
        for store in pipes.stores:
            store.close()


@dataclass(kw_only=True)
class Source:
    """Somewhere to put objects; `store` is None on this machine."""

    listing: Callable[[Mapping[str, bytes]], Listing]
    store: S3Client | None = None


def here(folder: Path) -> Source:
    """A folder of this machine."""

    def listing(files: Mapping[str, bytes]) -> Listing:
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        return list_source(str(folder), channel="c", directory="/", mapping={}, region="r", role="a")

    return Source(listing=listing)


def in_s3(server: S3Server) -> Source:
    """A bucket on this server."""

    def listing(files: Mapping[str, bytes]) -> Listing:
        bucket = server.make_bucket()
        etags = [server.put(bucket, f"p/{name}", content) for name, content in files.items()]
        return Listing(
            root="",
            bucket_uri=f"s3://{bucket}/",
            prefix="p/",
            key_base="p/",
            paths=tuple(files),
            total_bytes=None,
            whole_tree=False,
            sizes=tuple(map(len, files.values())),
            etags=tuple(etags),
        )

    # On a busy machine a server may take half a minute to come back.
    return Source(listing=listing, store=opened(server.environment, retry_seconds=120))
