"""The folders and locks of the download cache.

lock                      held briefly to find, add or remove a tree
blobs/ab/abcdef…          the content of one object
trees/<name>/data/        objects under their paths: hard links to blobs
trees/<name>/about.json   description of the tree; its modification time is the last use
partial/<name>.lock       held by the process that builds this tree
partial/<name>/           what that process has so far
partial/<name>/new/       its downloads; each gets its name there only when it is complete
"""

import json
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from fcntl import LOCK_EX, LOCK_NB, flock
from typing import IO

from smlocal.base.files import Check, no_check, remove_tree
from smlocal.base.quick_dataclass import dataclass
from smlocal.data.channels.copy import FILE_MODE

DEFAULT_LIMIT = 20 << 30
DOWNLOADS = "new"
_REMOVED = "removed-"
_LOCK = ".lock"
_PAUSE_SECONDS = 0.1
_BLOB_FOLDER_LENGTH = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Cache:
    """The download cache below the home of smlocal; creating this object does not touch the disk."""

    home: str
    limit: int = DEFAULT_LIMIT
    """In bytes."""

    @property
    def root(self) -> str:
        """The folder of the cache."""
        return os.path.join(self.home, "cache")

    @property
    def blobs(self) -> str:
        """Folder of blobs, in folders named after their first letters."""
        return os.path.join(self.root, "blobs")

    @property
    def trees(self) -> str:
        """Folder of trees."""
        return os.path.join(self.root, "trees")

    @property
    def partial(self) -> str:
        """Folder of trees that are being built or removed."""
        return os.path.join(self.root, "partial")

    def blob(self, name: str) -> str:
        """Path of this blob, which need not exist."""
        return os.path.join(self.blobs, name[:_BLOB_FOLDER_LENGTH], name)

    def tree(self, name: str) -> str:
        """Path of this tree, which need not exist: a folder with `data` and `about.json`."""
        return os.path.join(self.trees, name)

    def prepare(self) -> None:
        """Make the folders."""
        for folder in (self.root, self.blobs, self.trees, self.partial):
            os.makedirs(folder, mode=0o700, exist_ok=True)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock on all trees, briefly."""
        with open(os.path.join(self.root, "lock"), "ab") as file:
            flock(file, LOCK_EX)
            yield

    @contextmanager
    def alone(self, name: str, waiting: Callable[[], None], check: Check = no_check) -> Iterator[None]:
        """Be the only process that builds this tree.

        `waiting` is called before waiting for another one, and `check`, which may raise, while waiting.
        """
        path = os.path.join(self.partial, f"{name}{_LOCK}")
        while True:
            # A file object, not a descriptor: it is closed even if a signal handler raises at any point.
            with open(path, "ab") as file:
                if not _lock(file):
                    waiting()
                    while not _lock(file):  # waiting inside of flock would only end with a signal
                        check()
                        time.sleep(_PAUSE_SECONDS)
                if not _is_still(file, path):
                    continue  # the previous owner removed it, and a new file may be locked by another process
                try:
                    yield
                finally:
                    with suppress(OSError):
                        os.unlink(path)
                return

    def sweep(self) -> None:
        """Clean up after processes that were killed while they built or removed a tree."""
        for name in sorted(os.listdir(self.partial)):
            path = os.path.join(self.partial, name)
            with suppress(OSError):
                if name.endswith(_LOCK):
                    self._sweep_killed(name, path)
                elif name.startswith(_REMOVED) or not os.path.exists(f"{path}{_LOCK}"):
                    remove_tree(path)

    def _sweep_killed(self, name: str, path: str) -> None:
        with open(path, "rb") as file:
            flock(file, LOCK_EX | LOCK_NB)  # fails while its process lives
            if _is_still(file, path):
                folder = os.path.join(self.partial, name.removesuffix(_LOCK))
                keep_downloads(folder, self.blob)
                self.discard(folder)
                os.unlink(path)

    def discard(self, path: str) -> None:
        """Remove a folder of the cache; renamed first, so that nothing is added to it. Errors are ignored."""
        aside = os.path.join(self.partial, f"{_REMOVED}{os.getpid()}-{os.urandom(4).hex()}")
        with suppress(OSError):
            os.rename(path, aside)
            remove_tree(aside)  # a later `sweep` removes the rest


def _lock(file: IO[bytes]) -> bool:
    """False if another process holds the lock."""
    try:
        flock(file, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_still(file: IO[bytes], path: str) -> bool:
    """True if the path still leads to the open file."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except FileNotFoundError:
        return False


def data_folder(tree: str) -> str:
    """The folder of a tree's objects."""
    return os.path.join(tree, "data")


def keep_downloads(folder: str, blob: Callable[[str], str]) -> None:
    """Make blobs of the complete downloads of a tree that was not finished; `blob` gives the path of each."""
    downloads = os.path.join(folder, DOWNLOADS)
    with suppress(OSError):
        for name in os.listdir(downloads):
            if name.isalnum():  # incomplete downloads have names with other characters
                path = os.path.join(downloads, name)
                seal(path)
                store_blob(path, blob(name))


def store_blob(path: str, blob: str) -> None:
    """Move a sealed file to its place among the blobs."""
    try:
        os.rename(path, blob)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(blob), mode=0o700, exist_ok=True)
        os.rename(path, blob)


# Folders of sealed files, and the check that they have not been changed.
#
# A sealed file is complete: it has the service's mode and a modification time of whole seconds. Writing to it later
# gives it a time with a fraction, so its metadata show whether it is unchanged.

DIRECTORY_MODE = 0o755
_FILE, _FOLDER = stat.S_IFREG | FILE_MODE, stat.S_IFDIR | DIRECTORY_MODE
_SECOND = 1_000_000_000


def folders_of(paths: Iterable[str], directories: Iterable[str] = ()) -> list[str]:
    """Every folder that these files need, and these folders; parents first."""
    found: dict[str, None] = {}
    for below in dict.fromkeys([*(path.rpartition("/")[0] for path in paths), *directories]):
        parts = below.split("/") if below else []
        for depth in range(1, len(parts) + 1):
            found["/".join(parts[:depth])] = None
    return list(found)


def make_folders(root: str, folders: Iterable[str]) -> None:
    """Make the new folder `root` and these folders below it."""
    for path in (root, *(f"{root}/{folder}" for folder in folders)):
        os.mkdir(path)
        os.chmod(path, DIRECTORY_MODE)  # whatever the umask


def seal(path: str) -> None:
    """Mark a file as complete."""
    os.chmod(path, FILE_MODE)
    now = os.lstat(path).st_mtime_ns // _SECOND * _SECOND
    os.utime(path, ns=(now, now))


def is_sealed(status: os.stat_result, size: int) -> bool:
    """True for a sealed file of this size that has not been changed."""
    return status.st_size == size and status.st_mode == _FILE and status.st_mtime_ns % _SECOND == 0


def is_intact(root: str, sizes: Mapping[str, int], folders: Iterable[str]) -> bool:
    """True if exactly these files and folders are below `root`, unchanged since they were sealed."""
    missing = {"", *folders}
    waiting, files = [""], 0
    try:
        if os.lstat(root).st_mode != _FOLDER:
            return False
        while waiting:
            below = waiting.pop()
            missing.discard(below)
            start = f"{below}/" if below else ""
            with os.scandir(f"{root}/{below}") as entries:
                for entry in entries:
                    path, status = f"{start}{entry.name}", entry.stat(follow_symlinks=False)
                    if status.st_mode == _FILE:
                        if status.st_size != sizes.get(path) or status.st_mtime_ns % _SECOND:
                            return False
                        files += 1
                    elif path in missing and status.st_mode == _FOLDER:
                        waiting.append(path)
                    else:
                        return False
    except OSError:
        return False
    return files == len(sizes) and not missing


# The description of a tree, in a file beside it: for `smlocal cache ls`, and for eviction.

_INFO = "about.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class TreeInfo:
    """Written when a tree is made."""

    uri: str
    """`s3://bucket/prefix` that the objects were selected by."""
    endpoint: str
    objects: int
    bytes: int
    copied: int
    """Bytes that are in the cache twice, because the file system could not link them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CachedTree:
    """One tree of the cache, as it is now."""

    name: str
    info: TreeInfo | None
    """None if the tree is damaged."""
    last_used: float


def write_tree_info(folder: str, info: TreeInfo) -> None:
    """Write the description into the folder of a tree."""
    with open(os.path.join(folder, _INFO), "w", encoding="utf-8") as file:
        json.dump(asdict(info), file)


def mark_used(folder: str) -> None:
    """Note that the tree is used now."""
    os.utime(os.path.join(folder, _INFO))


def list_trees(cache: "Cache") -> list[CachedTree]:
    """Every tree, the least recently used first."""
    try:
        names = sorted(os.listdir(cache.trees))
    except FileNotFoundError:
        return []
    return sorted((_tree(name, cache.tree(name)) for name in names), key=lambda tree: tree.last_used)


def _tree(name: str, folder: str) -> CachedTree:
    path = os.path.join(folder, _INFO)
    try:
        with open(path, encoding="utf-8") as file:
            info = TreeInfo(**json.load(file))
        return CachedTree(name=name, info=info, last_used=os.stat(path).st_mtime)
    except (OSError, ValueError, TypeError):
        return CachedTree(name=name, info=None, last_used=0.0)
