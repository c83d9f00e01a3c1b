"""Files with holes: packed as the zeros that they are, without reading them."""

import gzip
import os
import random
import struct
import subprocess
import tarfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest
from isal import igzip, isal_zlib

from smlocal.data.artifacts.archive import write_archive
from smlocal.data.artifacts.gzip_stream import GzipStream
from smlocal.data.artifacts.ownership import END
from smlocal.data.artifacts.tree import walk

MIB = 1 << 20
POWER = 39
LAYOUTS = {
    "only a hole": [(200 * MIB, b"")],
    "a hole of odd size before data": [(130 * MIB + 4096, b"end")],
    "data, hole, data, hole": [(0, b"begin"), (70 * MIB + 8192, b"x" * 300_000), (200 * MIB, b"")],
    "small holes": [(index * 64 * 1024, b"page") for index in range(200)],
}


def plant(path: Path, layout: list[tuple[int, bytes]], *, dense: bool) -> None:
    with path.open("wb") as file:
        for position, data in layout:
            if dense:
                file.write(bytes(position - file.tell()))
            file.seek(position)
            file.write(data)
        file.truncate(file.tell())
    os.chmod(path, 0o644)
    os.utime(path, (1_500_000_000, 1_500_000_000))


def packed(folder: Path, archive: Path) -> bytes:
    assert write_archive([walk("algo-1", str(folder))], str(archive)) is not None
    return archive.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_a_hole_is_packed_as_its_zeros_are(layout: list[tuple[int, bytes]], tmp_path: Path) -> None:
    for name in ("holes", "dense"):
        (tmp_path / name).mkdir()
        plant(tmp_path / name / "file", layout, dense=name == "dense")
    sparse = (tmp_path / "holes/file").stat()
    assert sparse.st_blocks * 512 < sparse.st_size, "this file system has no holes"
    archive = tmp_path / "holes.tar.gz"
    assert packed(tmp_path / "holes", archive) == packed(tmp_path / "dense", tmp_path / "dense.tar.gz")
    with gzip.open(archive) as unpacked, tarfile.open(fileobj=unpacked, mode="r|") as members:  # checks the CRC too
        (member,) = [each for each in members if each.isreg()]
        assert member.size == sparse.st_size
    restored = tmp_path / "restored"
    restored.mkdir()
    subprocess.run(["tar", "-xzf", archive, "-C", restored], check=True)
    assert subprocess.run(["cmp", restored / "file", tmp_path / "dense/file"], check=False).returncode == 0


@pytest.mark.slow(0.5)
def test_half_a_terabyte_that_nobody_wrote_is_packed(tmp_path: Path) -> None:
    """Read as data, it takes some six minutes of both processors: longer than a test may take."""
    tree = tmp_path / "tree"
    tree.mkdir()
    with (tree / "file").open("wb") as file:
        file.truncate(1 << POWER)
    archive = tmp_path / "model.tar.gz"
    try:
        report = write_archive([walk("algo-1", str(tree))], str(archive))
        assert report is not None
        assert report.notes == ()
        with _unpacked(archive) as unpacked, tarfile.open(fileobj=unpacked, mode="r|") as members:
            member = members.next()
            assert member is not None
            assert (member.name, member.size) == ("file", 1 << POWER)
        with _unpacked(archive) as unpacked:
            head = unpacked.read(member.offset_data)
        with archive.open("rb") as file:
            file.seek(-8, os.SEEK_END)
            trailer = struct.unpack("<II", file.read())
    finally:
        archive.unlink(missing_ok=True)
    zeros = zlib.crc32(bytes(MIB))
    for power in range(20, POWER):  # twice as many each time
        zeros = isal_zlib.crc32_combine(zeros, zeros, 1 << power)
    crc = isal_zlib.crc32_combine(zlib.crc32(head), zeros, 1 << POWER)
    crc = isal_zlib.crc32_combine(crc, zlib.crc32(END), len(END))
    assert trailer == (crc, (len(head) + (1 << POWER) + len(END)) & 0xFFFFFFFF)


def _unpacked(archive: Path) -> IO[bytes]:
    opened: IO[bytes] = igzip.open(archive)  # type: ignore[no-untyped-call]  # published without types
    return opened


@pytest.mark.slow(1)
@pytest.mark.parametrize("before", [0, 1, MIB - 1, MIB, MIB + 1])
@pytest.mark.parametrize("zeros", [0, 1, MIB - 1, MIB, 64 * MIB, 65 * MIB + 7, 129 * MIB])
def test_zeros_are_the_same_stream_as_bytes_that_are_zero(before: int, zeros: int) -> None:
    data, calls = random.Random(before).randbytes(before), 0

    def added() -> None:
        nonlocal calls
        calls += 1

    def stream(add: Callable[[GzipStream], None]) -> bytes:
        pieces: list[bytes] = []

        class Sink:
            def write(self, piece: bytes) -> None:
                pieces.append(piece)

        with GzipStream(Sink()) as made:
            made.write(data)
            add(made)
            made.write(data)
            made.finish()
        return b"".join(pieces)

    def one_by_one(made: GzipStream) -> None:
        for start in range(0, zeros, MIB):
            made.write(bytes(min(MIB, zeros - start)))

    result = stream(lambda made: made.zeros(zeros, added=added))
    assert result == stream(one_by_one)
    assert zlib.crc32(gzip.decompress(result)) == zlib.crc32(data + bytes(zeros) + data)
    assert bool(calls) == bool(zeros)
