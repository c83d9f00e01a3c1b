import io
import os
import stat
import subprocess
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.data.artifacts.ownership import END, header, padding

PIECES = st.binary(min_size=1, max_size=130).map(lambda name: name.replace(b"/", b"_").replace(b"\0", b"_"))
NAMES = PIECES | st.text(min_size=1, max_size=60).map(
    lambda name: name.encode("utf-8", "replace").replace(b"/", b"_").replace(b"\0", b"_")
)


def read_back(data: bytes) -> tarfile.TarInfo:
    with tarfile.open(fileobj=io.BytesIO(data + END), encoding="utf-8", errors="surrogateescape") as archive:
        member = archive.next()
    assert member is not None
    return member


@given(
    name=NAMES,
    target=NAMES,
    kind=st.sampled_from([stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK]),
    numbers=st.tuples(st.integers(0, 0o7777), st.integers(-(2**33), 2**40), st.integers(0, 2**32 - 2)),
)
def test_python_reads_back_what_was_said(name: bytes, target: bytes, kind: int, numbers: tuple[int, int, int]) -> None:
    mode, mtime, uid = numbers
    link = target if kind == stat.S_IFLNK else b""
    member = read_back(header(path=name, mode=kind | mode, mtime=mtime, target=link, uid=uid, gid=uid))
    assert os.fsencode(member.name) == name
    assert os.fsencode(member.linkname) == link
    assert (member.isreg(), member.isdir(), member.issym()) == (
        kind == stat.S_IFREG,
        kind == stat.S_IFDIR,
        kind == stat.S_IFLNK,
    )
    assert (member.mode, member.mtime, member.uid, member.gid) == (mode, mtime, uid, uid)


@pytest.mark.parametrize("size", [0, 1, 8**11 - 1, 8**11, 2**45])
def test_any_size(size: int) -> None:
    assert read_back(header(path=b"big", mode=stat.S_IFREG | 0o644, mtime=0, size=size)).size == size


@pytest.mark.parametrize("size", [8**11 - 1, 8**11, 2**40])
def test_gnu_tar_reads_any_size(size: int) -> None:
    """It lists a file of a terabyte from only the header, and only then misses the rest."""
    data = header(path=b"big", mode=stat.S_IFREG | 0o640, mtime=1_000_000_000, size=size)
    listed = subprocess.run(["tar", "-tvf", "-"], input=data, capture_output=True, check=False)
    fields = listed.stdout.split()
    assert (fields[0], fields[1], int(fields[2])) == (b"-rw-r-----", b"root/root", size)


def test_the_owner_is_root() -> None:
    member = read_back(header(path=b"x", mode=stat.S_IFREG | 0o644, mtime=0))
    assert (member.uid, member.gid, member.uname, member.gname) == (0, 0, "root", "root")


@pytest.mark.parametrize(("size", "zeros"), [(0, 0), (1, 511), (512, 0), (513, 511)])
def test_padding(size: int, zeros: int) -> None:
    assert padding(size) == zeros
