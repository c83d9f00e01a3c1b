"""A folder of the user's that files are saved into, one by one, and never through a link that lies in it."""

import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Self

from smlocal.artifacts.write_errors import copy_bytes

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_FOLDER = {errno.ENOTDIR, errno.ELOOP}


class InTheWayError(Exception):
    """Something at the destination has the place of a file or of a folder above it."""

    def __init__(self, path: bytes) -> None:
        """Keep where it lies below the destination."""
        super().__init__(path)
        self.path = path


class ChangedError(Exception):
    """A file was written to while it was copied."""


class Destination:
    """Writes and deletes below one folder; use it as a context. Paths are relative to the folder, without `..`."""

    def __init__(self, path: str, *, draft: bytes) -> None:
        """`draft` is the name that a file has, in its own folder, until it is whole."""
        self._path = os.fsencode(path)
        self._draft = draft
        # The destination itself may be a link: that one the user has named.
        self._root = os.open(path, _FOLDER & ~os.O_NOFOLLOW)
        self._open: tuple[bytes, int] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._leave()
        os.close(self._root)

    def replace_links(self, folders: Iterable[bytes]) -> list[bytes]:
        """Make a folder of every link that has the name of one of these; what it led to stays as it is."""
        replaced = []
        for path in sorted(folders):
            with self._named(path), suppress(InTheWayError):
                above, _, name = path.rpartition(b"/")
                parent = self._folder(above)
                if parent is not None and stat.S_ISLNK(_mode(name, parent)):
                    os.unlink(name, dir_fd=parent)
                    os.mkdir(name, dir_fd=parent)
                    replaced.append(path)
        return replaced

    def write(self, path: bytes, source: int, *, mtime: int, unchanged: Callable[[], bool] = lambda: True) -> None:
        """Put the bytes of the open file `source` in place, all of them or none.

        `ChangedError`, and none of them, when it is not `unchanged` once they are copied.
        """
        above, _, name = path.rpartition(b"/")
        with self._named(path):
            folder = self._folder(above, make=True)
            assert folder is not None  # noqa: S101 - it has just been made
            if stat.S_ISDIR(_mode(name, folder)):
                try:
                    os.rmdir(name, dir_fd=folder)  # an empty one is nothing that a prefix knows
                except OSError as error:
                    raise InTheWayError(path) from error
            with suppress(FileNotFoundError):
                os.unlink(self._draft, dir_fd=folder)  # from a save that was killed
            try:
                draft = os.open(self._draft, _NEW, 0o644, dir_fd=folder)
                try:
                    copy_bytes(source, draft, lambda _: None)
                    os.utime(draft, (mtime, mtime))
                    os.fsync(draft)
                finally:
                    os.close(draft)
                _insist(unchanged)
                os.rename(self._draft, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with suppress(OSError):
                    os.unlink(self._draft, dir_fd=folder)
                raise

    def delete(self, path: bytes) -> None:
        """Delete one file, and the folders above it that hold nothing more; gone already is fine."""
        above, _, name = path.rpartition(b"/")
        with self._named(path), suppress(InTheWayError):
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
        """Open a folder, step by step from the top; None when it is not there. It stays open until the next one."""
        if self._open is not None and self._open[0] == path:
            return self._open[1]
        self._leave()  # also for what may be deleted next
        if not path:
            return self._root
        current, done = self._root, b""
        for name in path.split(b"/"):
            done = done + b"/" + name if done else name
            try:
                below = self._step(name, current, make=make)
            except FileNotFoundError:
                return None
            except OSError as error:
                if error.errno in _NO_FOLDER:
                    raise InTheWayError(done) from error
                raise
            finally:
                if current != self._root:
                    os.close(current)
            current = below
        self._open = (path, current)
        return current

    @staticmethod
    def _step(name: bytes, parent: int, *, make: bool) -> int:
        try:
            return os.open(name, _FOLDER, dir_fd=parent)
        except FileNotFoundError:
            if not make:
                raise
        os.mkdir(name, dir_fd=parent)
        return os.open(name, _FOLDER, dir_fd=parent)

    def _leave(self) -> None:
        if self._open is not None:
            with suppress(OSError):  # renames survive a power cut, where the file system can
                os.fsync(self._open[1])
            os.close(self._open[1])
            self._open = None

    @contextmanager
    def _named(self, path: bytes) -> Iterator[None]:
        """Name the whole path in an error: below an open folder the system is told only the last name."""
        try:
            yield
        except OSError as error:
            error.filename = self._path + b"/" + path
            raise


def _insist(unchanged: Callable[[], bool]) -> None:
    if not unchanged():
        raise ChangedError


def _mode(name: bytes, folder: int) -> int:
    """What kind of thing has a name; 0 for nothing."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return 0
