"""One archive of somebody else: read member by member, with limits, and unpacked without following links.

While unpacking, everything is opened by descriptor, below the folder and without following links, and no link is ever
written. So no name can lead out of the folder, and safety does not depend on a check of names.
"""

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Self

from smlocal.base.files import FOLDER, NEW
from smlocal.base.foreign_archive.stream import (
    BeyondLimitError,
    ByteStream,
    CutShortError,
    RefusedMemberError,
    inflated,
)
from smlocal.base.foreign_archive.tar_entries import BLOCK, TarEntry, tar_entries
from smlocal.base.quick_dataclass import dataclass
from smlocal.base.readable import readable_bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class ArchiveLimits:
    """How much is read of an archive, of each kind together."""

    members: int = 500_000
    content: int = 1 << 50
    """Bytes, unpacked, of contents and headers."""
    names: int = 64 << 20
    """Bytes of names and of targets of links."""
    headers: int = 128 << 20
    """Bytes of extended headers and long names. Python's own writer makes 1 KiB of them for each file at most."""


ARTIFACT = ArchiveLimits()
"""For `model.tar.gz` and similar archives: one whose list does not fit into memory is not read."""


class ForeignArchive:
    """A tar archive that is read once, from its beginning. Iterate it; `content` is of the member that came last.

    `ArchiveError` at any point if it is damaged, ends early or goes beyond a limit.
    """

    def __init__(self, pieces: Iterable[bytes], limits: ArchiveLimits = ARTIFACT, *, compressed: bool = True) -> None:
        """Read nothing yet; `compressed` by gzip."""
        self._stream = ByteStream(inflated(pieces) if compressed else pieces)
        self._limits = limits
        self._left = 0
        self._members = 0
        self._bytes = 0
        self._names = 0

    def __iter__(self) -> Iterator[TarEntry]:
        """Each member; content that was not taken is passed over."""
        for entry in tar_entries(self._stream, most_headers=self._limits.headers, strict=True):
            self._count(entry)
            self._left = entry.size
            yield entry
            self._stream.skip(self._left)
            self._left = 0

    def content(self, most: int | None = None) -> Iterator[bytes]:
        """The rest of the content of this member, or its beginning."""
        wanted = self._left if most is None else min(most, self._left)
        for piece in self._stream.take(wanted):
            self._left -= len(piece)
            wanted -= len(piece)
            yield piece
        if wanted:
            raise CutShortError

    def read(self, most: int) -> bytes:
        """The content of this member, or its beginning, whole."""
        return b"".join(self.content(most))

    def _count(self, entry: TarEntry) -> None:
        limits = self._limits
        self._members += 1
        self._bytes += BLOCK + entry.size
        self._names += len(entry.name) + len(entry.link)
        if self._members > limits.members:
            raise BeyondLimitError(f"it has more than {limits.members:,} members")
        if self._bytes > limits.content:
            raise BeyondLimitError(f"it unpacks to more than {readable_bytes(limits.content)}")
        if self._names > limits.names:
            raise BeyondLimitError(f"its names have more than {readable_bytes(limits.names)}")


_MOST_DEPTH = 200
"""Folders in folders."""
_STEPS_OF_PATH = 10
"""Folders that are opened for each path, on average: those above it, if the one before it is in another folder."""
_LATEST = 1 << 33
_SHOWN = 100
"""Characters of a name, in messages."""
_WHAT = {
    "link": "is a symbolic link, which smlocal does not unpack: pack the file itself (tar --dereference)",
    "sparse": "is a file with holes, which smlocal does not unpack: pack it without --sparse",
    "fifo": "is a FIFO",
    "other": "is a device or the like",
}


def _no_check() -> None:
    pass


def unpack(archive: ForeignArchive, folder: str, *, most_paths: int, check: Callable[[], None] = _no_check) -> None:
    """Unpack into an empty folder that only this process writes to. `most_paths`: files and folders, named or not.

    `check` is called before each member, and may raise.

    A second name of a file (a hard link) is made if the first is in the archive, before it. Leading slashes are taken
    away. Names with `..`, symbolic links, devices, FIFOs and files with holes are refused. Of modes only what a data
    file needs is kept: the owner may read and write, nobody else may write, and setuid and similar bits are cleared.
    """
    with _Below(folder, most_paths) as below:
        for entry in archive:
            check()
            path = _path(entry.name, entry)
            if entry.kind in _WHAT:
                raise _refused(entry, _WHAT[entry.kind])
            try:
                if entry.kind == "folder":
                    below.folder(path)
                elif entry.kind == "hard":
                    _link(below, path, entry)
                else:
                    below.file(path, archive.content(), mode=entry.mode, mtime=entry.mtime)
            except _AlikeError as error:
                raise _refused(entry, "has the name of another member on a disk that ignores case") from error
            except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
                raise _refused(entry, "is a file and a folder at once") from error


def _link(below: "_Below", path: Sequence[bytes], entry: TarEntry) -> None:
    try:
        below.link(path, _path(entry.link, entry))
    except (FileNotFoundError, PermissionError) as error:
        raise _refused(entry, "is a second name of a file that the archive does not have before it") from error


def _path(name: str, entry: TarEntry) -> Sequence[bytes]:
    parts = [part for part in os.fsencode(name).split(b"/") if part not in {b"", b"."}]
    if b".." in parts:
        raise _refused(entry, "has .. in its path")
    if len(parts) > _MOST_DEPTH:
        raise _refused(entry, f"is in more than {_MOST_DEPTH} folders")
    if not parts and entry.kind != "folder":
        raise _refused(entry, "has no name")
    return parts


def _refused(entry: TarEntry, why: str) -> RefusedMemberError:
    name = entry.name if len(entry.name) <= _SHOWN else f"{entry.name[:_SHOWN]}…"
    return RefusedMemberError(f"{name!r} {why}")


class _AlikeError(Exception):
    """The disk takes the names of two members for one."""


class _Below:
    """The files made below a folder. Two directories are open at a time."""

    def __init__(self, folder: str, most: int) -> None:
        self._root = os.open(folder, FOLDER)
        self._here, self._at = self._root, tuple[bytes, ...]()
        self._left, self._most = most, most
        self._files: set[bytes] = set()
        self._steps = most * _STEPS_OF_PATH

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._go(self._root, ())
        os.close(self._root)

    def folder(self, path: Sequence[bytes]) -> int:
        """Make it and those above it, where they are missing; its descriptor, until the next call."""
        whole = tuple(path)
        if whole == self._at:
            return self._here
        known = len(self._at)
        start = self._here if whole[:known] == self._at else self._root
        current = start
        try:
            for name in whole[known if start == self._here else 0 :]:
                below = self._entered(name, current)
                if current != start:
                    os.close(current)
                current = below
        except BaseException:
            if current != start:
                os.close(current)
            raise
        self._go(current, whole)
        return current

    def _entered(self, name: bytes, parent: int, *, make: bool = True) -> int:
        self._steps -= 1
        if self._steps < 0:
            raise BeyondLimitError("its folders are too deep for the number of its files")
        try:
            return os.open(name, FOLDER, dir_fd=parent)
        except FileNotFoundError:
            if not make:
                raise
        self._count()
        os.mkdir(name, dir_fd=parent)
        return os.open(name, FOLDER, dir_fd=parent)

    def file(self, path: Sequence[bytes], content: Iterable[bytes], *, mode: int, mtime: float) -> None:
        """Write it; one of the same name that came earlier is gone, as when an archive was appended to."""
        *above, name = path
        parent = self.folder(above)
        self._count()
        try:
            descriptor = os.open(name, NEW, 0o600, dir_fd=parent)
        except FileExistsError:
            self._remove_earlier(path, parent)
            descriptor = os.open(name, NEW, 0o600, dir_fd=parent)
        self._files.add(b"/".join(path))
        with open(descriptor, "wb", buffering=0) as file:
            for piece in content:
                rest = memoryview(piece)
                while rest:
                    rest = rest[file.write(rest) :]
            os.fchmod(descriptor, _mode(mode))
            when = min(max(mtime, 0.0), _LATEST)
            os.utime(descriptor, (when, when))

    def link(self, path: Sequence[bytes], target: Sequence[bytes]) -> None:
        """Give a file another name; both are below the folder, and it has no link that could be followed."""
        if list(path) == list(target):
            return
        source = self._opened(target)
        try:
            *above, name = path
            parent = self.folder(above)
            self._count()
            with suppress(FileNotFoundError):
                self._remove_earlier(path, parent)
            self._files.add(b"/".join(path))
            os.link(target[-1], name, src_dir_fd=source, dst_dir_fd=parent, follow_symlinks=False)
        finally:
            os.close(source)

    def _remove_earlier(self, path: Sequence[bytes], parent: int) -> None:
        if not stat.S_ISREG(os.stat(path[-1], dir_fd=parent, follow_symlinks=False).st_mode):
            raise IsADirectoryError
        if b"/".join(path) not in self._files:
            raise _AlikeError
        os.unlink(path[-1], dir_fd=parent)

    def _opened(self, path: Sequence[bytes]) -> int:
        """The folder of a file that must be there: a descriptor that stays."""
        current = os.dup(self._root)
        for name in path[:-1]:
            try:
                below = self._entered(name, current, make=False)
            finally:
                os.close(current)
            current = below
        return current

    def _count(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise BeyondLimitError(f"it has more than {self._most:,} files and folders")

    def _go(self, directory: int, path: tuple[bytes, ...]) -> None:
        if self._here not in {self._root, directory}:
            os.close(self._here)
        self._here, self._at = directory, path


def _mode(mode: int) -> int:
    kept = mode & 0o755 | 0o600
    return kept if mode & 0o100 else kept & ~0o111
