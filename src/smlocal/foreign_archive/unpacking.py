"""Unpack an archive of somebody else: regular files and folders, whatever its names say.

Everything is opened by descriptor, below the folder and without following links, and no link is ever written. So no
name can lead out of the folder, and safety does not depend on a check of names.
"""

import os
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Self

from smlocal.foreign_archive.errors import BeyondLimitError, RefusedMemberError
from smlocal.foreign_archive.reading import ForeignArchive
from smlocal.foreign_archive.tar_entries import TarEntry
from smlocal.no_links import FOLDER, NEW

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


def unpack(archive: ForeignArchive, folder: str, *, most_paths: int) -> None:
    """Unpack into an empty folder that nobody else writes to. `most_paths`: files and folders, named or not.

    A second name of a file (a hard link) is made if the first is in the archive, before it. Leading slashes are taken
    away. Names with `..`, symbolic links, devices, FIFOs and files with holes are refused. Of modes only what a data
    file needs is kept: the owner may read and write, nobody else may write, setuid and its like are gone.
    """
    with _Below(folder, most_paths) as below:
        for entry in archive:
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


class _Below:
    """What is made below a folder. Two directories are open at a time."""

    def __init__(self, folder: str, most: int) -> None:
        self._root = os.open(folder, FOLDER)
        self._here, self._at = self._root, tuple[bytes, ...]()
        self._left, self._most = most, most
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
            _remove_file(name, parent)
            descriptor = os.open(name, NEW, 0o600, dir_fd=parent)
        with open(descriptor, "wb", buffering=0) as file:
            for piece in content:
                rest = memoryview(piece)
                while rest:
                    rest = rest[file.write(rest) :]
            os.fchmod(descriptor, _mode(mode))
            when = min(max(mtime, 0.0), _LATEST)
            os.utime(descriptor, (when, when))

    def link(self, path: Sequence[bytes], target: Sequence[bytes]) -> None:
        """Give a file another name; both are below the folder, and there is no link there that could be followed."""
        if list(path) == list(target):
            return
        source = self._opened(target)
        try:
            *above, name = path
            parent = self.folder(above)
            self._count()
            with suppress(FileNotFoundError):
                _remove_file(name, parent)
            os.link(target[-1], name, src_dir_fd=source, dst_dir_fd=parent, follow_symlinks=False)
        finally:
            os.close(source)

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


def _remove_file(name: bytes, parent: int) -> None:
    if not stat.S_ISREG(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
        raise IsADirectoryError
    os.unlink(name, dir_fd=parent)
