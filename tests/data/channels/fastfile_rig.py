"""A FastFile channel over what is in a bucket of one of the tests' S3 servers."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.kit.s3_servers import REGION, S3Server

from smlocal.data.channels.fastfile.mount import FuseMount
from smlocal.data.sources.s3.client import open_store
from smlocal.terms.listing import Listing
from smlocal.terms.rights import EVERYTHING

BASE = "data/"


@dataclass(kw_only=True)
class Mounted:
    """A mount, and what its server said when it died."""

    mount: FuseMount
    folder: Path
    deaths: list[str] = field(default_factory=list)

    @property
    def path(self) -> Path:
        return Path(self.mount.mount_point)

    @property
    def server(self) -> "subprocess.Popen[bytes]":
        return self.mount._process

    @property
    def log(self) -> str:
        return (self.folder / "server.log").read_text()


Mounter = Callable[..., Mounted]


@contextmanager
def mounter(monkeypatch: pytest.MonkeyPatch) -> Iterator[Mounter]:
    """Makes mounts in folders that any user may enter, and leaves none behind."""
    made: list[Mounted] = []

    def make(s3: S3Server, listing: Listing, *, read_seconds: float | None = None) -> Mounted:
        for name, value in s3.environment.items():
            monkeypatch.setenv(name, value)
        folder = Path(tempfile.mkdtemp(prefix="smlocal-fastfile-"))
        folder.chmod(0o755)
        deaths: list[str] = []
        mount = FuseMount.start(
            listing, region=REGION, directory=str(folder), died=deaths.append, read_seconds=read_seconds
        )
        made.append(Mounted(mount=mount, folder=folder, deaths=deaths))
        return made[-1]

    try:
        yield make
    finally:
        for each in made:
            each.mount.stop()
            left = mounted_below(each.folder)
            shutil.rmtree(each.folder)
            assert left == []


def seed(s3: S3Server, objects: Mapping[str, bytes], monkeypatch: pytest.MonkeyPatch) -> Listing:
    """Put them into a new bucket and list them, as a job does."""
    for name, value in s3.environment.items():
        monkeypatch.setenv(name, value)
    bucket = s3.make_bucket()
    for path, data in objects.items():
        s3.put(bucket, BASE + path, data)
    found = list(open_store(REGION, rights=EVERYTHING).list_objects(bucket, BASE))
    return Listing(
        root="",
        bucket_uri=f"s3://{bucket}/",
        prefix=BASE,
        key_base=BASE,
        paths=[each.key.removeprefix(BASE) for each in found],
        sizes=[each.size or 0 for each in found],
        etags=[each.etag or "" for each in found],
        total_bytes=sum(each.size or 0 for each in found),
        whole_tree=False,
    )


def mounted_below(folder: Path) -> list[str]:
    """Every mount point there."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return [place for line in lines if (place := line.split()[4]).startswith(f"{folder}/")]


def python(script: str, *arguments: str, user: int | None = None) -> "subprocess.Popen[bytes]":
    """A Python process of its own that runs a script."""
    return subprocess.Popen(
        [sys.executable, "-c", script, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, user=user
    )
