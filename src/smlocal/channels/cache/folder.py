"""The cache as a folder of the home: where things lie, and the locks that keep processes out of each other's way.

lock                   held for a moment by whoever takes a tree, adds one or removes one
blobs/ab/abcdef…       the content of one object
trees/<name>/data/     objects in their places: hard links to blobs
trees/<name>/about.json   what it is; its time is the last use
partial/<name>.lock    held by whoever makes this tree
partial/<name>/        what that process has so far
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from typing import IO

from smlocal.channels.cache.salvage import salvage
from smlocal.quick_dataclass import dataclass
from smlocal.removal import remove_tree

DEFAULT_LIMIT = 20 << 30
_GONE = "removed-"
_LOCK = ".lock"
_FAN = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Cache:
    """Downloads that are kept for later jobs, below the home of smlocal; nothing is made or looked at before use."""

    home: str
    limit: int = DEFAULT_LIMIT
    """In bytes."""

    @property
    def root(self) -> str:
        """The folder of the cache."""
        return os.path.join(self.home, "cache")

    @property
    def blobs(self) -> str:
        """Folder of contents, in folders by the first letters of their names."""
        return os.path.join(self.root, "blobs")

    @property
    def trees(self) -> str:
        """Folder of trees."""
        return os.path.join(self.root, "trees")

    @property
    def partial(self) -> str:
        """Folder of what is being made or removed."""
        return os.path.join(self.root, "partial")

    def blob(self, name: str) -> str:
        """Where this content lies, if it does."""
        return os.path.join(self.blobs, name[:_FAN], name)

    def tree(self, name: str) -> str:
        """Where this tree lies, if it does: a folder with its `data` and its `about.json`."""
        return os.path.join(self.trees, name)

    def prepare(self) -> None:
        """Make the folders; `OSError` where that cannot be."""
        for folder in (self.root, self.blobs, self.trees, self.partial):
            os.makedirs(folder, mode=0o700, exist_ok=True)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Alone with the trees, for a moment."""
        with open(os.path.join(self.root, "lock"), "ab") as file:
            flock(file, LOCK_EX)
            yield

    @contextmanager
    def alone(self, name: str, waiting: Callable[[], None]) -> Iterator[None]:
        """Be the one process that makes this tree; `waiting` is called before it has to wait for another."""
        path = os.path.join(self.partial, f"{name}{_LOCK}")
        while True:
            # A file object and not a bare descriptor: it closes by itself when a signal breaks this off anywhere.
            with open(path, "ab") as file:
                try:
                    flock(file, LOCK_EX | LOCK_NB)
                except BlockingIOError:
                    waiting()
                    flock(file, LOCK_EX)
                if not _is_still(file, path):
                    continue  # the one before us removed it, and somebody else may have a new one
                try:
                    yield
                finally:
                    with suppress(OSError):
                        os.unlink(path)
                return

    def sweep(self) -> None:
        """Remove what processes left that were killed while they made or removed a tree."""
        for name in sorted(os.listdir(self.partial)):
            path = os.path.join(self.partial, name)
            with suppress(OSError):
                if name.endswith(_LOCK):
                    self._sweep_killed(name, path)
                elif name.startswith(_GONE) or not os.path.exists(f"{path}{_LOCK}"):
                    remove_tree(path)

    def _sweep_killed(self, name: str, path: str) -> None:
        with open(path, "rb") as file:
            flock(file, LOCK_EX | LOCK_NB)  # refused while its process lives
            if _is_still(file, path):
                folder = os.path.join(self.partial, name.removesuffix(_LOCK))
                salvage(folder, self.blob)
                self.discard(folder)
                os.unlink(path)

    def discard(self, path: str) -> None:
        """Remove a folder of the cache, first by its name, so that nothing is added to it any more.

        What cannot be removed is no reason to fail; what still has its name then is in the way of whoever wants it.
        """
        aside = os.path.join(self.partial, f"{_GONE}{os.getpid()}-{os.urandom(4).hex()}")
        with suppress(OSError):
            os.rename(path, aside)
            remove_tree(aside)  # what is left in spite of that is swept another time


def _is_still(file: IO[bytes], path: str) -> bool:
    """True while the path leads to the file that was opened."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except FileNotFoundError:
        return False
