"""Open files in folders that a container wrote. No link is followed, whenever it was made."""

import os

_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class SafeOpener:
    """Opens what is below a folder. The folder and everything below may be links; its parent belongs to smlocal.

    Only two directories are open at a time, because a tree may be deeper than the number of files a process may open.
    """

    __slots__ = ("_current", "_current_path", "_root", "_root_path")

    def __init__(self, root: bytes) -> None:
        """Nothing is opened yet."""
        self._root_path = root
        self._root = -1
        self._current_path = b""
        self._current = -1

    def directory(self, path: bytes) -> int:
        """Descriptor of a directory, valid until the next call; `NotADirectoryError` if a part of `path` is a link."""
        if self._root < 0:
            self._root = _open_root(self._root_path)
        if not path:
            return self._root
        if path == self._current_path:
            return self._current
        is_below = self._current >= 0 and path.startswith(self._current_path + b"/")
        start = self._current if is_below else self._root
        names = (path[len(self._current_path) + 1 :] if is_below else path).split(b"/")
        current = start
        try:
            for name in names:
                child = os.open(name, _OPEN, dir_fd=current)
                if current != start:
                    os.close(current)
                current = child
        except OSError:
            if current != start:
                os.close(current)
            raise
        if self._current >= 0:
            os.close(self._current)
        self._current_path, self._current = path, current
        return current

    def file(self, path: bytes) -> int:
        """Open a file for reading. Opening a FIFO does not block."""
        parent, _, name = path.rpartition(b"/")
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        return os.open(name, flags, dir_fd=self.directory(parent))

    def close(self) -> None:
        """Close the directories; the next call opens them again."""
        for descriptor in (self._root, self._current):
            if descriptor >= 0:
                os.close(descriptor)
        self._root = self._current = -1
        self._current_path = b""

    __del__ = close


def _open_root(path: bytes) -> int:
    above, name = os.path.split(os.path.abspath(path))
    parent = os.open(above, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return os.open(name, _OPEN, dir_fd=parent) if name else os.dup(parent)
    finally:
        os.close(parent)
