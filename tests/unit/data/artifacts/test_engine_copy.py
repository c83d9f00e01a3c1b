import io
import os
import stat
import tarfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smlocal.data.artifacts.archive import write_archive
from smlocal.data.artifacts.model_folder import unpack_copy
from smlocal.data.artifacts.tree import walk
from smlocal.errors import ArtifactError


def member(name: str, kind: bytes = tarfile.REGTYPE, *, target: str = "", size: int = 0) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size, info.mode, info.mtime = kind, target, size, 0o640, 1_500_000_000
    return info


def stream(*members: tuple[tarfile.TarInfo, bytes]) -> Iterator[bytes]:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for info, data in members:
            archive.addfile(info, io.BytesIO(data))
    data = packed.getvalue()
    return iter([data[at : at + 700] for at in range(0, len(data), 700)])


@pytest.mark.slow(0.5)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_an_archive_of_what_was_fetched_is_the_archive_of_the_tree(
    data: st.DataObject, tmp_path: Path, plant: Callable[..., Path], any_plan: st.SearchStrategy[Mapping[Any, Any]]
) -> None:
    place = tmp_path / uuid4().hex
    tree = plant(place / "model", data.draw(any_plan.filter(bool)))
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", encoding="utf-8", errors="surrogateescape") as archive:
        archive.add(tree, arcname="model")
    fetched = unpack_copy("algo-1", iter([packed.getvalue()]), str(place / "spool"))
    write_archive([walk("algo-1", str(tree))], str(place / "read.tar.gz"))
    write_archive([fetched], str(place / "fetched.tar.gz"))
    assert (place / "read.tar.gz").read_bytes() == (place / "fetched.tar.gz").read_bytes()


def test_what_another_process_has_left_half_done_is_done_again(tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    for content in (b"half", b"x"):
        tree = unpack_copy("algo-1", stream((member("model/a", size=len(content)), content)), str(spool))
    assert [entry.size for entry in tree.entries] == [1]
    assert (spool / "0").read_bytes() == b"x"


def test_no_name_leads_out_of_the_spool(tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    names = ["model/../../evil", "/etc/evil", "model//x", "model/./x", "../model/x", "model/ok"]
    tree = unpack_copy("algo-1", stream(*((member(name, size=1), b"x") for name in names)), str(spool))
    assert [entry.path for entry in tree.entries] == [b"ok"]
    assert len(tree.skipped) == 5
    assert all("unsafe path" in note for note in tree.skipped)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["0"]
    assert stat.S_IMODE(spool.stat().st_mode) == 0o700
    assert stat.S_IMODE((spool / "0").stat().st_mode) == 0o600


def test_podman_gives_the_top_directory_no_name(tmp_path: Path) -> None:
    tree = unpack_copy(
        "algo-1",
        stream(
            (member("/", tarfile.DIRTYPE), b""),
            (member("/d", tarfile.DIRTYPE), b""),
            (member("/d/one", size=4), b"data"),
            (member("/two", tarfile.LNKTYPE, target="/d/one"), b""),
            (member("/../evil", size=1), b"x"),
            (member("d/evil", size=1), b"x"),
        ),
        str(tmp_path),
    )
    assert [(entry.path, entry.size) for entry in tree.entries] == [(b"d", 0), (b"d/one", 4), (b"two", 4)]
    assert [note.split(" has ")[0] for note in tree.skipped] == ["algo-1: '/../evil'", "algo-1: 'd/evil'"]


def test_links_are_facts_and_hard_links_are_files(tmp_path: Path) -> None:
    tree = unpack_copy(
        "algo-1",
        stream(
            (member("model", tarfile.DIRTYPE), b""),
            (member("model/one", size=4), b"data"),
            (member("model/two", tarfile.LNKTYPE, target="model/one"), b""),
            (member("model/lost", tarfile.LNKTYPE, target="model/other"), b""),
            (member("model/link", tarfile.SYMTYPE, target="/etc/passwd"), b""),
            (member("model/pipe", tarfile.FIFOTYPE), b""),
            (member("model/null", tarfile.CHRTYPE), b""),
        ),
        str(tmp_path),
    )
    assert [(e.path, e.target, e.size) for e in tree.entries] == [
        (b"link", b"/etc/passwd", 0),
        (b"one", b"", 4),
        (b"two", b"", 4),
    ]
    assert {os.read(tree.open(e), 5) for e in tree.entries if e.is_file} == {b"data"}
    assert len({e.inode for e in tree.entries if e.is_file}) == 1
    assert [note.split(" is ")[0] for note in tree.skipped] == ["algo-1: lost", "algo-1: null", "algo-1: pipe"]


@pytest.mark.parametrize("data", [b"", b"this is no tar" * 100, b"\0" * 100])
def test_a_broken_stream(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(ArtifactError, match=r"^Artifact upload failed:"):
        unpack_copy("algo-1", iter([data]), str(tmp_path))


def test_a_stream_that_ends_within_a_file(tmp_path: Path) -> None:
    whole = b"".join(stream((member("model/one", size=100_000), bytes(100_000))))
    with pytest.raises(ArtifactError, match=r"^Artifact upload failed:"):
        unpack_copy("algo-1", iter([whole[:50_000]]), str(tmp_path))


def test_a_full_disk(tmp_path: Path, small_disk: Path) -> None:
    del tmp_path
    pieces = stream((member("model/one", size=6_000_000), os.urandom(6_000_000)))
    with pytest.raises(ArtifactError, match="Insufficient disk space"):
        unpack_copy("algo-1", pieces, str(small_disk / "spool"))
