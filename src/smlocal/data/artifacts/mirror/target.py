"""Where files are mirrored to and which were mirrored; the target that is a local folder of the user."""

import errno
import json
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import field, replace
from types import TracebackType
from typing import IO, Protocol, Self

from smlocal.base.alike_names import ignores_case
from smlocal.base.files import FOLDER, NEW, Check, no_check, open_folder
from smlocal.base.quick_dataclass import dataclass
from smlocal.data.artifacts.atomic_write import copy_bytes, sync_file
from smlocal.data.artifacts.tree import Clash
from smlocal.terms.checkpoints import UPLOADING, Restored, Stamp


class PathConflictError(Exception):
    """A file cannot be written, because a folder has its name, or a file has the name of a folder above it."""

    def __init__(self, path: bytes) -> None:
        """`path` is where the conflict is, relative to the target."""
        super().__init__(path)
        self.path = path


def unnamed_copy() -> IO[bytes]:
    """A new file without a name and without a buffer, in memory if the system can."""
    if sys.platform == "linux":
        made: IO[bytes] = open(os.memfd_create("mirror"), "w+b", buffering=0)  # noqa: SIM115 - the caller closes it
    else:
        from tempfile import TemporaryFile

        made = TemporaryFile(buffering=0)  # noqa: SIM115 - likewise
    return made


class FileChangedError(Exception):
    """A file was written to while it was copied."""


def always() -> bool:
    """The `unchanged` of a file that is not written to any more."""
    return True


def check_unchanged(unchanged: Callable[[], bool]) -> None:
    """Raise `FileChangedError` if the file has changed."""
    if not unchanged():
        raise FileChangedError


class OpenTarget(Protocol):
    """Takes files, by paths without `..`. Raises `OSError` on failure, and `PathConflictError`."""

    def write(self, path: bytes, source: int, *, mtime: int, unchanged: Callable[[], bool] = always) -> None:
        """Write a complete copy of an open file; `FileChangedError`, and no copy, if it is not `unchanged` then."""

    def delete(self, path: bytes) -> None:
        """Delete a file, if it exists."""

    def replace_links(self, folders: Iterable[bytes]) -> list[bytes]:
        """Replace those of these folders that are links by real folders; returns them."""
        ...


class Target(Protocol):
    """Is opened each time there is something to write; in between, the user may change it."""

    def exists(self) -> bool:
        """False if there can be nothing to delete."""
        ...

    def ignores_case(self) -> bool:
        """Whether names that differ only in case are one."""
        ...

    def open(self) -> AbstractContextManager[OpenTarget]:
        """Create it if necessary."""
        ...


# Which files were mirrored, stored for the save at the end of the job and for a supervisor that adopts it.

UNKNOWN = Stamp(size=-1, mtime_ns=0, inode=0)
"""The stamp of a file that is being written to the target; no file matches it."""


@dataclass(kw_only=True, slots=True)
class MirrorState:
    """A file with one line for each file that was written to the target or deleted there.

    If one file is rewritten for a day, this takes a few megabytes. The state is deleted at the end of the attempt.
    """

    path: str
    owners: dict[str, str] = field(default_factory=dict)
    """The host whose file is at the target, by path, for mirrored files."""
    clashes: dict[str, Clash] = field(default_factory=dict)
    """The last time a host's file replaced that of another host, by path."""
    _stamps: dict[str, dict[str, Stamp]] = field(default_factory=dict)
    _deleted: dict[str, set[str]] = field(default_factory=dict)
    _descriptor: int = -1

    @classmethod
    def read(cls, path: str) -> "MirrorState":
        """Read what all supervisors of the job have written; it is empty if there is no file."""
        state = cls(path=path)
        with suppress(FileNotFoundError), open(path, encoding="ascii") as lines:
            for line in lines:
                with suppress(ValueError, TypeError):  # a killed supervisor may have left a part of a line
                    state._apply(*json.loads(line))
        return state

    def up_to_date(self, host: str, restored: Restored) -> Restored:
        """The files of a host that are at the target: those that were restored, and those mirrored since."""
        deleted = self._deleted.get(host, set())
        files = {path: stamp for path, stamp in restored.files.items() if path not in deleted}
        return replace(restored, files={**files, **self._stamps.get(host, {})})

    def writing(self, host: str, path: str) -> None:
        """A new file is going to be written to the target."""
        self._add(host, path, UNKNOWN.size, UNKNOWN.mtime_ns, UNKNOWN.inode)

    def written(self, host: str, path: str, stamp: Stamp) -> None:
        """The target has a copy of the file with this stamp."""
        self._add(host, path, stamp.size, stamp.mtime_ns, stamp.inode)

    def deleted(self, host: str, path: str) -> None:
        """The file was deleted by the host, and at the target."""
        self._add(host, path)

    def close(self) -> None:
        """Close the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _add(self, host: str, path: str, *stamp: int) -> None:
        self._apply(host, path, *stamp)
        if self._descriptor < 0:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            self._descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        # The first newline ends a line that was not completed. If the line does not fit on the disk, the file is saved
        # again at the end.
        os.write(self._descriptor, f"\n{json.dumps([host, path, *stamp])}\n".encode("ascii"))

    def _apply(self, host: str, path: str, *stamp: int) -> None:
        if not stamp:
            self._stamps.setdefault(host, {}).pop(path, None)
            self._deleted.setdefault(host, set()).add(path)
            if self.owners.get(path) == host:
                del self.owners[path]
            return
        size, mtime_ns, inode = stamp
        self._stamps.setdefault(host, {})[path] = Stamp(size=size, mtime_ns=mtime_ns, inode=inode)
        self._deleted.setdefault(host, set()).discard(path)
        if size == UNKNOWN.size:
            return
        before = self.owners.get(path, host)
        if before != host:
            self.clashes[path] = Clash(path=path, loser=before, winner=host)
        self.owners[path] = host


_NOT_A_FOLDER = {errno.ENOTDIR, errno.ELOOP}


@dataclass(frozen=True, kw_only=True, slots=True)
class FolderTarget:
    """A local folder, which may not exist yet."""

    path: str
    run_id: str
    """Part of the temporary name of each file until it is complete."""
    links: bool = True
    """False if no part of the path may be a link."""
    check: Check = no_check
    """Called between pieces of a file. If it raises, there is no copy."""

    def exists(self) -> bool:
        """False if there is nothing to delete."""
        return os.path.isdir(self.path)

    def ignores_case(self) -> bool:
        """Asked of the disk."""
        return ignores_case(self.path)

    def open(self) -> "OpenFolder":
        """Create the folder if necessary."""
        if self.links:
            os.makedirs(self.path, exist_ok=True)
        # The folder itself may be a link, because the user has named it.
        root = os.open(self.path, FOLDER & ~os.O_NOFOLLOW) if self.links else open_folder(self.path, create=True)
        return OpenFolder(self.path, root, partial_name=os.fsencode(f".{self.run_id}{UPLOADING}"), check=self.check)


class OpenFolder:
    """Writes and deletes files below a folder; a context manager."""

    def __init__(self, path: str, root: int, *, partial_name: bytes, check: Check = no_check) -> None:
        """`root` is the open folder. `partial_name` is the name of a file, in its own folder, until it is complete."""
        self._path, self._check = os.fsencode(path), check
        self._partial_name = partial_name
        self._root = root
        self._current: tuple[bytes, int] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._close_current()
        os.close(self._root)

    def replace_links(self, folders: Iterable[bytes]) -> list[bytes]:
        """Replace those of these folders that are links by real folders; the targets of the links are not changed."""
        replaced = []
        for path in sorted(folders):
            with self._full_path(path), suppress(PathConflictError):
                above, _, name = path.rpartition(b"/")
                parent = self._folder(above)
                if parent is not None and stat.S_ISLNK(_mode(name, parent)):
                    os.unlink(name, dir_fd=parent)
                    os.mkdir(name, dir_fd=parent)
                    replaced.append(path)
        return replaced

    def write(self, path: bytes, source: int, *, mtime: int, unchanged: Callable[[], bool] = always) -> None:
        """Write a complete copy of an open file; `FileChangedError`, and no copy, if it is not `unchanged` then."""
        above, _, name = path.rpartition(b"/")
        with self._full_path(path):
            folder = self._folder(above, make=True)
            assert folder is not None  # noqa: S101 - it was made if it did not exist
            if stat.S_ISDIR(_mode(name, folder)):
                try:
                    os.rmdir(name, dir_fd=folder)  # an empty folder is nothing in S3, so it may be replaced
                except OSError as error:
                    raise PathConflictError(path) from error
            with suppress(FileNotFoundError):
                os.unlink(self._partial_name, dir_fd=folder)  # a killed process may have left it
            try:
                partial = os.open(self._partial_name, NEW, 0o644, dir_fd=folder)
                try:
                    copy_bytes(source, partial, lambda _: self._check())
                    os.utime(partial, (mtime, mtime))
                    sync_file(partial, self._check)
                finally:
                    os.close(partial)
                check_unchanged(unchanged)
                os.rename(self._partial_name, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with suppress(OSError):
                    os.unlink(self._partial_name, dir_fd=folder)
                raise

    def delete(self, path: bytes) -> None:
        """Delete a file, if it exists, and the folders above it that are empty then."""
        above, _, name = path.rpartition(b"/")
        with self._full_path(path), suppress(PathConflictError):
            folder = self._folder(above)
            if folder is None or stat.S_ISDIR(_mode(name, folder)):
                return
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)
            while above:
                above, _, name = above.rpartition(b"/")
                parent = self._folder(above)
                try:
                    os.rmdir(name, dir_fd=parent)
                except OSError:
                    return

    def _folder(self, path: bytes, *, make: bool = False) -> int | None:
        """Descriptor of a folder, valid until the next call; None if it does not exist."""
        if self._current is not None and self._current[0] == path:
            return self._current[1]
        self._close_current()
        if not path:
            return self._root
        current, done = self._root, b""
        for name in path.split(b"/"):
            done = done + b"/" + name if done else name
            try:
                child = self._open_child(name, current, make=make)
            except FileNotFoundError:
                return None
            except OSError as error:
                if error.errno in _NOT_A_FOLDER:
                    raise PathConflictError(done) from error
                raise
            finally:
                if current != self._root:
                    os.close(current)
            current = child
        self._current = (path, current)
        return current

    @staticmethod
    def _open_child(name: bytes, parent: int, *, make: bool) -> int:
        try:
            return os.open(name, FOLDER, dir_fd=parent)
        except FileNotFoundError:
            if not make:
                raise
        os.mkdir(name, dir_fd=parent)
        return os.open(name, FOLDER, dir_fd=parent)

    def _close_current(self) -> None:
        if self._current is not None:
            with suppress(OSError):  # makes renames survive a power cut, if the file system can
                os.fsync(self._current[1])
            os.close(self._current[1])
            self._current = None

    @contextmanager
    def _full_path(self, path: bytes) -> Iterator[None]:
        """Put the full path into an error, which otherwise has only the last name."""
        try:
            yield
        except OSError as error:
            error.filename = self._path + b"/" + path
            raise


def _mode(name: bytes, folder: int) -> int:
    """The st_mode of a name in a folder; 0 if there is nothing."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return 0
