"""Open what lies below a folder that somebody else may write to. No link is followed, whenever it was made.

Containers, clients of the endpoint and archives can put a link anywhere below such a folder. A path that was checked
may lead elsewhere when it is opened, so it is opened part by part, each from the descriptor of the folder above it.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EISDIR

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
