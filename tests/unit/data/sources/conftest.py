"""Trees on disk, listings of them, and the rights of an ordinary user."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from smlocal.data.sources.channel import ChannelSource, list_channel
from smlocal.data.sources.local_listing import list_source
from smlocal.data.sources.s3.interface import ObjectStore
from smlocal.terms.listing import Listing

NOBODY = 65534


@pytest.fixture
def fill(tmp_path: Path) -> Callable[..., Path]:
    """Makes files below a folder of the test; each holds its own name."""

    def make(*names: str, below: str = "data") -> Path:
        folder = tmp_path / below
        folder.mkdir(exist_ok=True)
        for name in names:
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(os.fsencode(name))
        return folder

    return make


@pytest.fixture
def listing_of(tmp_path: Path) -> Callable[..., Listing]:
    def make(uri: str, mapping: Mapping[str, str] | None = None, **changes: bool | str) -> Listing:
        return list_source(
            uri,
            channel="train",
            directory=str(tmp_path),
            mapping=mapping or {},
            strict=bool(changes.get("strict")),
            where=str(changes["where"]) if "where" in changes else None,
            region="eu-west-1",
            role="arn:aws:iam::111122223333:role/r",
        )

    return make


def no_store() -> ObjectStore:
    pytest.fail("nothing has to be asked of S3 here")


@pytest.fixture
def channel_of(tmp_path: Path) -> Callable[..., Listing]:
    """Lists a channel for which nothing is in S3."""

    def make(
        uri: str,
        mapping: Mapping[str, str] | None = None,
        *,
        kind: str = "S3Prefix",
        mode: str = "File",
        strict: bool = False,
    ) -> Listing:
        asked = ChannelSource(
            name="train", uri=uri, data_type=kind, mode=mode, directory=str(tmp_path), where="job.yaml:14"
        )
        return list_channel(
            asked,
            mapping=mapping or {},
            strict=strict,
            region="eu-west-1",
            role="arn:aws:iam::111122223333:role/r",
            store=no_store,
        )

    return make


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can reach, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="smlocal-test-"))
    folder.chmod(0o755)
    yield folder
    for below in folder.iterdir():
        below.chmod(0o755)  # a user cannot delete what this user may not look into
    shutil.rmtree(folder)


@contextmanager
def ordinary_user() -> Iterator[None]:
    user, group = os.geteuid(), os.getegid()
    if user == 0:
        os.setegid(NOBODY)
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if user == 0:
            os.seteuid(user)
            os.setegid(group)


@pytest.fixture
def as_user() -> Callable[[], AbstractContextManager[None]]:
    """Gives up root's rights for a while, where the tests run as root."""
    return ordinary_user
