"""What is in an artifact: names, sizes and digests. Nothing is unpacked or kept."""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import IO

from smlocal.foreign_archive.archive import ForeignArchive
from smlocal.foreign_archive.stream import ArchiveError, opened, pieces_of
from smlocal.quick_dataclass import dataclass

_DIGITS = 12


@dataclass(frozen=True, kw_only=True, slots=True)
class File:
    """One file in an artifact."""

    size: int | None
    """None for what is not a regular file."""
    digest: str | None
    """The first digits of its SHA-256, or `→ target` of a link; None if it was not read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Archive:
    """`model.tar.gz` or `output.tar.gz`, or the folder in place of one."""

    place: str
    size: int | None
    """Of the archive itself. It contains times, so it may differ for the same files."""
    files: Mapping[str, File] | None
    """By path; None if it was not read."""
    trouble: str | None = None
    """Why it could not be read."""


def read_archive(path: str) -> Archive:
    """Read an archive or a folder of this machine."""
    try:
        if os.path.isdir(path):
            files = dict(_of_folder(path))
            return Archive(place=path, size=None, files=files)
        with opened(path) as file:
            return read_stream(file, place=path, size=os.fstat(file.fileno()).st_size)
    except FileNotFoundError:
        return Archive(place=path, size=None, files=None, trouble="it is no longer there")
    except ArchiveError as error:
        return Archive(place=path, size=None, files=None, trouble=str(error))
    except OSError as error:
        return Archive(place=path, size=None, files=None, trouble=f"it cannot be read: {error.strerror or error}")


def read_stream(stream: IO[bytes], *, place: str, size: int | None) -> Archive:
    """Read an archive as it comes."""
    try:
        files = dict(_of_archive(ForeignArchive(pieces_of(stream))))
    except (ArchiveError, OSError) as error:
        return Archive(place=place, size=size, files=None, trouble=f"it cannot be read: {error}")
    return Archive(place=place, size=size, files=files)


def _of_archive(archive: ForeignArchive) -> Iterator[tuple[str, File]]:
    """The files; folders have nothing that could differ but their names, which those of their files have."""
    for entry in archive:
        name = entry.name.removeprefix("./")
        if entry.kind == "file":
            yield name, File(size=entry.size, digest=_digest(archive.content()))
        elif entry.kind != "folder":
            yield name, File(size=None, digest=f"→ {entry.link}")


def _of_folder(top: str) -> Iterator[tuple[str, File]]:
    for folder, _, names in os.walk(top):
        for name in sorted(names):
            path = os.path.join(folder, name)
            short = os.path.relpath(path, top)
            if os.path.islink(path):
                yield short, File(size=None, digest=f"→ {os.readlink(path)}")
            elif os.path.isfile(path):
                with open(path, "rb") as file:
                    yield short, File(size=os.fstat(file.fileno()).st_size, digest=_digest(pieces_of(file)))


def _digest(pieces: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()[:_DIGITS]
