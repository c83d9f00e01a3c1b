"""Folders that a container wrote, opened step by step: no link is followed, whenever it was put there."""

import os

_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Reach:
    """Opens what lies below a folder. The folder's parent is ours; the folder itself and all below may be a link.

    Only two directories are open at a time, for a tree may be deeper than a process may open files.
    """

    __slots__ = ("_below", "_current", "_path", "_root")

    def __init__(self, path: bytes) -> None:
        """Open nothing yet."""
        self._path = path
        self._root = -1
        self._below = b""
        self._current = -1

    def directory(self, below: bytes) -> int:
        """Descriptor of the directory `below`, valid until the next call; NotADirectoryError for a link on the way."""
        if self._root < 0:
            self._root = _open_last(self._path)
        if not below:
            return self._root
        if below == self._below:
            return self._current
        closer = self._current >= 0 and below.startswith(self._below + b"/")
        start = self._current if closer else self._root
        steps = (below[len(self._below) + 1 :] if closer else below).split(b"/")
        current = start
        try:
            for step in steps:
                following = os.open(step, _OPEN, dir_fd=current)
                if current != start:
                    os.close(current)
                current = following
        except OSError:
            if current != start:
                os.close(current)
            raise
        if self._current >= 0:
            os.close(self._current)
        self._below, self._current = below, current
        return current

    def file(self, path: bytes) -> int:
        """Open a file for reading, without waiting for what is no regular file."""
        below, _, name = path.rpartition(b"/")
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        return os.open(name, flags, dir_fd=self.directory(below))

    def close(self) -> None:
        """Let go of the directories; they open again when they are needed."""
        for descriptor in (self._root, self._current):
            if descriptor >= 0:
                os.close(descriptor)
        self._root = self._current = -1
        self._below = b""

    __del__ = close


def _open_last(path: bytes) -> int:
    above, name = os.path.split(os.path.abspath(path))
    parent = os.open(above, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return os.open(name, _OPEN, dir_fd=parent) if name else os.dup(parent)
    finally:
        os.close(parent)
