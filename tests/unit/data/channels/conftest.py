import os
from collections.abc import Callable
from pathlib import Path

import pytest

from smlocal.data.sources.local_listing import list_source
from smlocal.terms.listing import Listing


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A small tree with what trees have: depth, an empty file, links, modes, an odd name."""
    folder = tmp_path / "data"
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "b" / "deep").write_bytes(b"deep")
    (folder / "a" / "big").write_bytes(b"0123456789abcdef" * 200_000)
    (folder / "empty").touch()
    (folder / os.fsdecode(b"\xff odd")).write_bytes(b"odd")
    (folder / "private").write_bytes(b"private")
    (folder / "private").chmod(0o600)
    (folder / "link").symlink_to("a/b/deep")
    (folder / "folder-link").symlink_to("a/b")
    return folder


@pytest.fixture
def listing_of() -> Callable[[Path], Listing]:
    def make(path: Path) -> Listing:
        return list_source(str(path), channel="train", directory="/", mapping={}, region="r", role="a")

    return make
