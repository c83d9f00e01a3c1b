"""The names and sizes of the files in an artifact. Nothing is unpacked, and time and memory are limited."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from stat import S_ISDIR

from smlocal.foreign_archive.errors import ArchiveError
from smlocal.foreign_archive.reading import ForeignArchive
from smlocal.foreign_archive.stream import opened, pieces_of
from smlocal.foreign_archive.tar_entries import BLOCK, TarEntry

_FILES, _LINKS = {"file", "sparse"}, {"link", "hard"}
_MAX_SHOWN = 300
_MAX_COUNTED = 10_000
_MAX_BYTES = 1 << 29
"""All data before a header has to be decompressed: half a GiB takes one or two seconds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Member:
    """One entry of an artifact."""

    path: str
    size: int | None
    """None for folders and links."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ArtifactContents:
    """An artifact and its first members."""

    path: str
    size: int
    folder: bool
    """True if it is a folder of files, not an archive."""
    members: tuple[Member, ...]
    count: int
    complete: bool
    """False if there may be more members than were counted."""
    error: str | None
    """Why it could not be read, or not to its end."""


def read_contents(path: str, size: int) -> ArtifactContents:
    """Read an archive, or a folder of artifacts. An archive is not read again by this process until it changes."""
    try:
        state = os.stat(path)
    except OSError:
        return _read(path, size)
    if S_ISDIR(state.st_mode):
        return _read(path, size)
    return _read_once(path, size, (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns))


@lru_cache(maxsize=32)
def _read_once(path: str, size: int, state: tuple[int, ...]) -> ArtifactContents:  # noqa: ARG001 - part of the key
    return _read(path, size)


def _read(path: str, size: int) -> ArtifactContents:
    members: list[Member] = []
    count, complete, error = 0, True, None
    folder = os.path.isdir(path)
    try:
        for member in _folder(path) if folder else _archive(path):
            if member is None or count == _MAX_COUNTED:
                complete = False
                break
            count += 1
            if len(members) < _MAX_SHOWN:
                members.append(member)
    except FileNotFoundError:
        error = "It no longer exists."
    except (OSError, ArchiveError) as raised:
        error = f"It cannot be read: {getattr(raised, 'strerror', None) or raised}."
    return ArtifactContents(
        path=path,
        size=size,
        folder=folder,
        members=tuple(members),
        count=count,
        complete=complete and not error,
        error=error,
    )


def _archive(path: str) -> Iterator[Member | None]:
    """Members in the order of the archive. A None at the end: the rest was not read."""
    read = 0
    with opened(path) as file:
        for entry in ForeignArchive(pieces_of(file)):
            yield Member(path=_label(entry), size=entry.size if entry.kind in _FILES else None)
            read += BLOCK + entry.size
            if read > _MAX_BYTES:
                yield None
                return


def _label(entry: TarEntry) -> str:
    if entry.kind == "folder":
        return f"{entry.name.rstrip('/')}/"
    return f"{entry.name} → {entry.link}" if entry.kind in _LINKS else entry.name


def _folder(top: str) -> Iterator[Member]:
    """All files and links below a folder, by name."""
    pending = [top]
    while pending:
        with os.scandir(pending.pop()) as found:
            entries = sorted(found, key=lambda entry: entry.name)
        below = []
        for entry in entries:
            path = os.path.relpath(entry.path, top)
            if entry.is_dir(follow_symlinks=False):
                below.append(entry.path)
            elif entry.is_symlink():
                yield Member(path=f"{path} → {os.readlink(entry.path)}", size=None)
            else:
                yield Member(path=path, size=entry.stat(follow_symlinks=False).st_size)
        pending += reversed(below)
