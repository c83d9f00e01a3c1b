"""A channel staged on the real engine, a container that works in it, and a look at what either leaves behind."""

import hashlib
import os
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

from smlocal.data.channels.copy import StagedChannel, prepare_channel
from smlocal.data.sources.local_listing import list_source
from smlocal.engine.docker import DockerEngine
from smlocal.engine.engines import connect
from smlocal.engine.interface import JOB_LABEL, ContainerSpec, Resource, ResourceKind
from smlocal.terms.channels import Staging
from smlocal.terms.listing import Listing

TARGET = "/opt/ml/input/data/train"
Docker = Callable[..., str]
Images = Callable[[str], str]


@dataclass(frozen=True, kw_only=True)
class Host:
    """One host of a test's job."""

    engine: DockerEngine
    job: str
    image: str
    directory: Path

    def stage(
        self, listing: Listing, staging: Staging = "overlay", name: str = "train", *, rootless: bool | None = None
    ) -> StagedChannel:
        return prepare_channel(
            listing,
            engine=self.engine,
            staging=staging,
            target=TARGET,
            target_directory=str(self.directory / name),
            volume_prefix=f"{self.job}-{name}",
            labels={JOB_LABEL: self.job},
            rootless=self.engine.facts().rootless if rootless is None else rootless,
        )

    def run(self, staged: StagedChannel, script: str) -> str:
        """Run a shell script in the channel's folder; it must succeed."""
        spec = ContainerSpec(
            name=f"{self.job}-{uuid4().hex[:8]}",
            image=self.image,
            labels={JOB_LABEL: self.job},
            entrypoint=("/bin/sh", "-ec", f"cd {TARGET}\n{script}"),
            command=(),
            environment={},
            hostname="algo-1",
            mounts=staged.mounts,
        )
        container = self.engine.create(spec)
        output = self.engine.attach(container)
        try:
            self.engine.start(container)
            said = b"".join(written.lines for written in output)
            code = self.engine.wait(container)
        finally:
            output.close()
            self.engine.remove(Resource(kind=ResourceKind.CONTAINER, id=container))
        text = os.fsdecode(said)
        assert code == 0, text
        return text


@pytest.fixture
def host(tmp_path: Path, image: Images) -> Iterator[Host]:
    engine = connect()
    job = f"channels-{uuid4().hex[:8]}"
    yield Host(engine=engine, job=job, image=image("sh"), directory=tmp_path / "staged")
    for resource in engine.owned(job):
        engine.remove(resource)
    assert engine.owned(job) == []


@pytest.fixture
def listing_of(tmp_path: Path) -> Callable[..., Listing]:
    def make(uri: str, mapping: Mapping[str, str] | None = None) -> Listing:
        return list_source(
            uri, channel="train", directory=str(tmp_path), mapping=mapping or {}, region="eu-west-1", role="r"
        )

    return make


def digest_tree(folder: Path) -> dict[str, tuple[int, int, int, int, dict[str, bytes], str]]:
    """Every entry with its kind, owner, time, marks and content: equal before and after means no change."""
    found = {}
    for path in [folder, *folder.rglob("*")]:
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            content = os.readlink(path)
        else:
            content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        name = str(path.relative_to(folder))
        owner = (status.st_mode, status.st_uid, status.st_gid)
        found[name] = (*owner, status.st_mtime_ns, marks_of(path), content)
    return found


def marks_of(path: Path) -> dict[str, bytes]:
    """Its extended attributes."""
    found: dict[str, bytes] = {}
    if sys.platform == "linux":
        with suppress(OSError):  # a file system without any
            names = os.listxattr(path, follow_symlinks=False)
            found = {name: os.getxattr(path, name, follow_symlinks=False) for name in names}
    return found


@pytest.fixture
def digest() -> Callable[[Path], Mapping[str, object]]:
    return digest_tree
