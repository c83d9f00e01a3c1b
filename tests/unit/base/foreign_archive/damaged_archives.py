"""Reads damaged archives with every reader that there is, in a process with little memory: COUNT FOLDER [slowest]."""

import random
import sys
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.unit.base.foreign_archive.foreign_archives import (
    Attempt,
    damaged,
    damaged_gzip,
    limited_memory,
    pieces,
    report,
    valid,
)

from smlocal.api.artifact import Artifact
from smlocal.base.foreign_archive.archive import ForeignArchive, unpack
from smlocal.base.foreign_archive.stream import ArchiveError
from smlocal.base.removal import remove_tree
from smlocal.errors import ConformanceDocumentError
from smlocal.jobs.planning.aspects.image.look import reserved_files
from smlocal.report.job_report import read_contents
from smlocal.service.compare.subject import read_archive
from smlocal.service.conformance.reading import collect

EXPECTED = (ArchiveError, OSError, ConformanceDocumentError, tarfile.ReadError)
SEED = 20_261_124


def readers(folder: Path) -> dict[str, Attempt]:
    """By name: what is done with the bytes of an archive."""
    path, below = folder / "a.tar.gz", folder / "below"

    def unpacked(content: bytes) -> None:
        below.mkdir()
        try:
            unpack(ForeignArchive(pieces(content)), str(below), most_paths=1000)
        finally:
            assert not [each for each in below.rglob("*") if each.is_symlink()]
            remove_tree(str(below))

    def api(content: bytes) -> None:
        del content
        artifact = Artifact(path=str(path), size=1)
        for name in artifact.names():
            artifact.read(name)

    return {
        "unpack": unpacked,
        "compare": lambda _: read_archive(str(path)),
        "report": lambda content: read_contents(str(path), len(content)),
        "conformance": lambda _: collect([str(path)], version="0"),
        "api": api,
        "reserved": lambda content: reserved_files(pieces(content), "/opt/ml"),
    }


def attempts(count: int, folder: Path, slowest: list[float]) -> Iterator[str]:
    """How each ended. Whatever is not expected ends the process."""
    whole = valid(), valid(links=False)
    for number in range(count):
        chance = random.Random(SEED + number)
        plain = damaged(whole[number % 2], chance)
        content = damaged_gzip(plain, chance)
        (folder / "a.tar.gz").write_bytes(content)
        for name, read in readers(folder).items():
            begun = time.process_time()
            try:
                read(plain if name == "reserved" else content)
                yield f"{name}: read"
            except EXPECTED as error:
                yield f"{name}: {type(error).__name__}"
            except BaseException:
                sys.stderr.write(f"archive {number}, {name}\n")
                raise
            slowest.append(time.process_time() - begun)


if __name__ == "__main__":
    limited_memory()
    times: list[float] = []
    report(attempts(int(sys.argv[1]), Path(sys.argv[2]), times))
    if sys.argv[3:]:
        sys.stderr.write(f"slowest: {max(times):.3f} s\n")
