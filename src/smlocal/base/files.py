"""Files: written whole or not at all, copied inside the kernel, removed, and opened without following links."""

import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import field
from errno import EBADF, EINVAL, EISDIR, ENOSYS, ENOTSUP, ENOTTY, EOPNOTSUPP, EPERM, EXDEV
from typing import BinaryIO

from smlocal.base.quick_dataclass import dataclass

Check = Callable[[], None]
"""Called between pieces of long work; raises if it was cancelled."""
Copying = Callable[[], AbstractContextManager[Check]]
"""Entered around such work. In the main thread a signal handler may also raise inside, at any point."""


def unbroken() -> AbstractContextManager[Check]:
    """For work that cannot be cancelled."""
    return nullcontext(no_check)


def no_check() -> None:
    """Do nothing."""


DRAFT = ".partial"
"""The end of the name of a file that is being written.

A process that is killed leaves it, and the file that had the name.
"""
_LONGEST_NAME = 200
"""Bytes of a file's name in that of its draft: a name has 255 at most."""


@contextmanager
def replacement(path: str, *, mode: int = 0o666, synced: bool = False) -> Iterator[BinaryIO]:
    """A new file, which gets the name `path` at the end of the block. After an error, what had the name stays.

    The new file has `mode`, less the umask, whatever an earlier one had. `synced`: it survives a power cut.
    """
    folder, name = os.path.split(path)
    short = os.fsdecode(os.fsencode(name)[:_LONGEST_NAME])
    draft = os.path.join(folder, f".{short}.{os.getpid()}-{os.urandom(4).hex()}{DRAFT}")
    try:
        with open(draft, "xb", opener=lambda path, flags: os.open(path, flags, mode)) as file:
            yield file
            if synced:
                file.flush()
                os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise


def replace_file(path: str, content: bytes, *, mode: int = 0o666, synced: bool = False) -> None:
    """Write a whole file, as `replacement` does."""
    with replacement(path, mode=mode, synced=synced) as file:
        file.write(content)


def free_bytes(path: str) -> int | None:
    """Free bytes of the disk where `path` is or will be; None if they are not known."""
    while not os.path.exists(path) and path != os.path.dirname(path):
        path = os.path.dirname(path)
    try:
        disk = os.statvfs(path or ".")
    except OSError:
        return None
    return disk.f_bavail * disk.f_frsize


NOT_SUPPORTED = {EBADF, EINVAL, ENOSYS, ENOTSUP, ENOTTY, EOPNOTSUPP, EPERM, EXDEV}
"""Errors of a kernel or file system that does not support a way of copying."""
_AT_ONCE = 16 << 20
"""Written in a fraction of a second: a stop waits for it."""
_READ_AT_ONCE = 1 << 20


def copy_range(source: int, target: int, start: int, end: int | None, copied: Callable[[int], None]) -> int:
    """Copy from `start` to `end` of `source`, or to where it ends, to the current position of `target`.

    Returns where in `source` the copy ended: before `end` if the file is shorter. `copied` is called with the number of
    bytes of each piece, and may raise.
    """
    position = start
    for way in (*_IN_KERNEL, _by_read_and_write):
        try:
            while left := _AT_ONCE if end is None else min(end - position, _AT_ONCE):
                count = way(source, target, position, left)
                if not count:
                    break
                position += count
                copied(count)
        except OSError as error:
            if error.errno not in NOT_SUPPORTED:
                raise
            continue
        if position > start:
            return position
        # The file may be empty, or the file system reports an end at once to this way: try the next.
    return position


if sys.platform == "linux":

    def _by_range(source: int, target: int, position: int, count: int) -> int:
        return os.copy_file_range(source, target, count, offset_src=position)

    def _by_sendfile(source: int, target: int, position: int, count: int) -> int:
        return os.sendfile(target, source, position, count)

    _IN_KERNEL: tuple[Callable[[int, int, int, int], int], ...] = (_by_range, _by_sendfile)
else:
    _IN_KERNEL = ()


def _by_read_and_write(source: int, target: int, position: int, count: int) -> int:
    piece = os.pread(source, min(count, _READ_AT_ONCE), position)
    left = memoryview(piece)
    while left:
        left = left[os.write(target, left) :]
    return len(piece)


_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_WRITE_AND_ENTER = 0o300


@dataclass(kw_only=True, slots=True)
class _Level:
    """A directory that is being deleted."""

    name: str
    identity: tuple[int, int]
    directories: list[str] = field(default_factory=list)


def remove_tree(path: str) -> None:
    """Delete `path`, if it exists, whatever it is. A link is deleted, not followed."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
    except (IsADirectoryError, PermissionError):
        # For a directory: EISDIR on Linux, EPERM on macOS.
        if os.path.islink(path) or not os.path.isdir(path):
            raise
        _remove_directory(path)


def _remove_directory(path: str) -> None:
    """Delete a directory, deepest first.

    A loop, because a training script may nest folders deeper than Python's recursion limit. Only one directory is open
    at a time, because there may be more levels than a process can open files. The way back up is `..`; if the tree was
    moved meanwhile, `..` is another directory, and deleting stops.
    """
    current, top = _enter(path, None)
    levels = [top]
    try:
        while True:
            level = levels[-1]
            if level.directories:
                child = level.directories.pop()
                try:
                    below, lower = _enter(child, current)
                except PermissionError:
                    os.rmdir(child, dir_fd=current)  # it belongs to another user, but can be deleted if it is empty
                    continue
                before, current = current, below  # in this order, because a signal handler may raise in between
                os.close(before)
                levels.append(lower)
                continue
            levels.pop()
            if not levels:
                os.rmdir(path)
                return
            before, current = current, os.open("..", _OPEN, dir_fd=current)
            os.close(before)
            if _identity(current) != levels[-1].identity:
                raise OSError(0, "the folder was moved while it was being deleted", path)
            os.rmdir(level.name, dir_fd=current)
    finally:
        os.close(current)


def _enter(name: str, parent: int | None) -> tuple[int, _Level]:
    """Open a directory, after a chmod if that is needed and allowed, and delete all files in it."""
    try:
        directory = os.open(name, _OPEN, dir_fd=parent)
    except PermissionError:
        os.chmod(name, 0o700, dir_fd=parent)
        directory = os.open(name, _OPEN, dir_fd=parent)
    try:
        if os.fstat(directory).st_mode & _WRITE_AND_ENTER != _WRITE_AND_ENTER:
            with suppress(PermissionError):  # it belongs to another user; deleting in it fails with an error
                os.fchmod(directory, 0o700)
        level = _Level(name=name, identity=_identity(directory))
        with os.scandir(directory) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    level.directories.append(entry.name)
                else:
                    os.unlink(entry.name, dir_fd=directory)
    except BaseException:
        os.close(directory)
        raise
    return directory, level


def _identity(directory: int) -> tuple[int, int]:
    status = os.fstat(directory)
    return status.st_dev, status.st_ino


# Containers, clients of the endpoint and archives can put a link anywhere below such a folder. A path that was checked
# may lead elsewhere when it is opened, so it is opened part by part, each from the descriptor of the folder above it.

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""How a folder is opened by its name."""
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""How a file is opened for reading. A FIFO does not block."""
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
"""How a new file is opened for writing."""
_PROC = "/proc/self/fd"


class Opener:
    """Opens files below a folder. The folder and everything below may be links; its parent is trusted.

    Only two directories are open at a time, because a tree may be deeper than the number of files a process may open.
    """

    __slots__ = ("_current", "_current_path", "_root", "_root_path", "_trusted")

    def __init__(self, root: bytes | str, *, trusted: bool = False) -> None:
        """Nothing is opened yet. `trusted`: the folder itself may be a link, because the user has named it."""
        self._root_path = os.fsencode(root)
        self._trusted = trusted
        self._root = -1
        self._current_path = b""
        self._current = -1

    def directory(self, path: bytes, *, create: bool = False) -> int:
        """Descriptor of a directory, valid until the next call; `NotADirectoryError` if a part of `path` is a link."""
        if self._root < 0:
            self._root = _open_root(self._root_path, trusted=self._trusted)
        if not path:
            return self._root
        if path == self._current_path:
            return self._current
        is_below = self._current >= 0 and path.startswith(self._current_path + b"/")
        start = self._current if is_below else self._root
        names = (path[len(self._current_path) + 1 :] if is_below else path).split(b"/")
        current = descend(start, names, create=create)
        # Forgotten before it is closed: if a signal handler raises in between, it must not be closed a second time.
        before, self._current, self._current_path = self._current, current, path
        if before >= 0:
            os.close(before)
        return current

    def file(self, path: bytes) -> int:
        """Open a file for reading. Opening a FIFO does not block."""
        parent, _, name = path.rpartition(b"/")
        return os.open(name, FILE, dir_fd=self.directory(parent))

    def new_file(self, path: bytes, mode: int = 0o600) -> int:
        """Open a new file for writing; the folders above it are made."""
        parent, _, name = path.rpartition(b"/")
        return os.open(name, NEW, mode, dir_fd=self.directory(parent, create=True))

    def close(self) -> None:
        """Close the directories; the next call opens them again."""
        opened = self._root, self._current
        self._root = self._current = -1
        self._current_path = b""
        for descriptor in opened:
            if descriptor >= 0:
                os.close(descriptor)

    __del__ = close


def descend(start: int, names: list[bytes], *, create: bool = False) -> int:
    """A new descriptor of the folder with these names, each in the one before, from an open folder on."""
    current = start
    try:
        for name in names:
            if create:
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=current)
            child = os.open(name, FOLDER, dir_fd=current)
            if current != start:
                os.close(current)
            current = child
    except OSError:
        if current != start:
            os.close(current)
        raise
    return os.dup(start) if current == start else current


def open_folder(path: str, *, create: bool = False) -> int:
    """Open a folder by its absolute path, which has no link at all; `NotADirectoryError` if one is there by now."""
    root = os.open("/", FOLDER)
    try:
        return descend(root, [name for name in os.fsencode(path).split(b"/") if name], create=create)
    finally:
        os.close(root)


def open_file(path: str) -> int:
    """Open a file by such a path, for reading; `OSError` if it is a link, or anything but a regular file."""
    parent, name = os.path.split(path)
    folder = open_folder(parent)
    try:
        return regular(os.open(name, FILE, dir_fd=folder), path)
    finally:
        os.close(folder)


def regular(descriptor: int, path: str) -> int:
    """The descriptor, if it is one of a regular file; otherwise it is closed, and `OSError` raised."""
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(EISDIR, "is no longer a regular file", path)


@contextmanager
def held_folder(path: str, *, create: bool = False) -> Iterator[str]:
    """Another path of a folder that has no link in its path: it leads there whatever becomes of the folders above.

    It holds in this process, until the end of the block. Where the system has no such paths, it is `path` itself.
    """
    descriptor = open_folder(path, create=create)
    try:
        yield f"{_PROC}/{descriptor}" if os.path.isdir(_PROC) else path
    finally:
        os.close(descriptor)


def _open_root(path: bytes, *, trusted: bool) -> int:
    if trusted:
        return os.open(path, FOLDER & ~os.O_NOFOLLOW)
    above, name = os.path.split(os.path.abspath(path))
    parent = os.open(above, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return os.open(name, FOLDER, dir_fd=parent) if name else os.dup(parent)
    finally:
        os.close(parent)
