"""Files that could not be packed are packed later as if nothing had happened."""

import io
import os
import subprocess
import tarfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smlocal.data.artifacts.archive import write_archive
from smlocal.data.artifacts.model_folder import keep_folder, read_kept_folder, unpack_copy, write_index
from smlocal.data.artifacts.tree import HostTree
from smlocal.errors import ArtifactError


def packed(tree: HostTree, path: Path) -> bytes:
    write_archive([tree], str(path))
    return path.read_bytes()


@pytest.mark.slow(0.5)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_what_came_through_the_engine(
    data: st.DataObject, tmp_path: Path, plant: Callable[..., Path], any_plan: st.SearchStrategy[Mapping[Any, Any]]
) -> None:
    place = tmp_path / uuid4().hex
    tree = plant(place / "model", data.draw(any_plan.filter(bool)))
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", encoding="utf-8", errors="surrogateescape") as archive:
        archive.add(tree, arcname="model")
    fetched = unpack_copy("algo-1", iter([stream.getvalue()]), str(place / "spool"))
    expected = packed(fetched, place / "expected")
    write_index(fetched)
    for _ in range(2):  # the next process after a crash does it again
        keep_folder(str(place / "spool"), str(place / "kept" / "model"))
    assert packed(read_kept_folder("algo-1", str(place / "kept" / "model")), place / "later") == expected
    assert not (place / "spool").exists()
    assert not (place / "spool.json").exists()


def test_a_crash_between_the_bytes_and_their_index(tmp_path: Path) -> None:
    (tmp_path / "model").write_text("x")
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        archive.add(tmp_path, arcname="model")
    write_index(unpack_copy("algo-1", iter([stream.getvalue()]), str(tmp_path / "spool")))
    (tmp_path / "kept").mkdir()
    (tmp_path / "spool").rename(tmp_path / "kept" / "model")
    keep_folder(str(tmp_path / "spool"), str(tmp_path / "kept" / "model"))
    assert [entry.path for entry in read_kept_folder("algo-1", str(tmp_path / "kept" / "model")).entries] == [b"model"]


def test_nothing_is_kept_of_an_empty_folder(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    for source in ("model", "never-made"):
        keep_folder(str(tmp_path / source), str(tmp_path / "kept" / "model"))
    assert not (tmp_path / "kept").exists()
    assert read_kept_folder("algo-1", str(tmp_path / "kept" / "model")).entries == ()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("cannot mount here")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_from_a_disk_of_its_own_it_is_copied(disk: Path, tmp_path: Path) -> None:
    (disk / "model").mkdir()
    (disk / "model" / "m").write_text("weights")
    for _ in range(2):
        keep_folder(str(disk / "model"), str(tmp_path / "kept" / "model"))
    assert (tmp_path / "kept" / "model" / "m").read_text() == "weights"


def test_what_cannot_be_kept_is_told(disk: Path, tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "m").write_bytes(os.urandom(2 << 20))
    with pytest.raises(ArtifactError, match="Insufficient disk space"):
        keep_folder(str(tmp_path / "model"), str(disk / "kept" / "model"))
    assert (tmp_path / "model" / "m").exists()
    assert not (disk / "kept" / "model").exists()
