"""The file system of a FastFile channel, independent of FUSE: errors are `OSError`."""

import time
from collections.abc import Callable, Iterator
from errno import EBADF, EIO, ENOENT, ENOTDIR
from itertools import count
from threading import Lock
from typing import TypeVar

from smlocal.data.channels.fastfile.blocks import WINDOW, Blocks, Put, Sequence
from smlocal.data.channels.fastfile.tree import Node, Tree
from smlocal.data.channels.fastfile.unread import Unread
from smlocal.data.sources.s3.interface import ObjectStore, S3Error, S3Object

_Opened = TypeVar("_Opened")

READ_SECONDS = 58.0
"""The time limit of a read: the documented limit is one minute."""
_ACTIVE = 10.0
"""Files that were read within this many seconds share the memory for reading ahead."""


class FileSystem:
    """The objects of an index in one bucket; safe to use from many threads."""

    def __init__(
        self,
        tree: Tree,
        store: ObjectStore,
        *,
        bucket: str,
        key_base: str,
        log: Callable[[str], None],
        unread: Callable[[Unread], None],
        read_seconds: float = READ_SECONDS,
    ) -> None:
        """`log` is told every failed fetch, `unread` every failed read: not everything fetched is read."""
        self.tree = tree
        self._store = store
        self._bucket = bucket
        self._key_base = key_base
        self._problem = log
        self._unread = unread
        self._blocks = Blocks(self._fetch, read_seconds=read_seconds)
        self._numbers = count(1)
        self._files: dict[int, tuple[Node, Sequence]] = {}
        self._folders: dict[int, tuple[bytes, Node]] = {}
        self._active: dict[int, float] = {}
        self._lock = Lock()

    def lookup(self, path: bytes) -> Node:
        """The node at `path`."""
        node = self.tree.lookup(path)
        if node is None:
            raise OSError(ENOENT, "no such object")
        return node

    def open(self, path: bytes) -> int:
        """Open a file; returns its handle."""
        handle = next(self._numbers)
        self._files[handle] = (self.lookup(path), Sequence())
        return handle

    def node(self, handle: int) -> Node:
        """The file that was opened."""
        return _opened(self._files, handle)[0]

    def read(self, handle: int, start: int, count: int, put: Put) -> int:
        """Pass up to `count` bytes from `start` on to `put`; returns their number."""
        node, sequence = _opened(self._files, handle)
        end = min(node.size, start + count)
        if end <= start:
            return 0
        with self._lock:
            pieces = self._pieces(handle, node, sequence, start, end)
        for first, last in pieces:
            if not self._blocks.fetch_ahead(node.index, first, last, node.size):
                break
            with self._lock:
                sequence.planned = max(sequence.planned, last)
        try:
            self._blocks.read(node.index, start, end, node.size, put)
        except OSError as error:
            if error.__cause__ is not None:
                self._unread(self._why(node, error.__cause__))
            raise
        return end - start

    def release(self, handle: int) -> None:
        """Close a file."""
        node, _ = self._files.pop(handle)
        with self._lock:
            self._active.pop(handle, None)
        if not any(other.index == node.index for other, _ in list(self._files.values())):
            self._blocks.cancel_ahead(node.index)

    def open_folder(self, path: bytes) -> int:
        """Open a folder; returns its handle."""
        node = self.lookup(path)
        if not node.folder:
            raise OSError(ENOTDIR, "an object is not a folder")
        handle = next(self._numbers)
        self._folders[handle] = (path, node)
        return handle

    def folder(self, handle: int) -> Node:
        """The folder that was opened."""
        return _opened(self._folders, handle)[1]

    def entries(self, handle: int, start: int) -> Iterator[tuple[bytes, Node, int]]:
        """Name, node and next position of every entry of a folder, from record `start` on."""
        path, node = _opened(self._folders, handle)
        return self.tree.children(path, max(start, node.index))

    def release_folder(self, handle: int) -> None:
        """Close a folder."""
        del self._folders[handle]

    def _pieces(self, handle: int, node: Node, sequence: Sequence, start: int, end: int) -> list[tuple[int, int]]:
        if not sequence.read(start, end):
            self._active.pop(handle, None)
            return []
        now = time.monotonic()
        self._active[handle] = now
        readers = sum(when > now - _ACTIVE for when in self._active.values())
        return sequence.pieces(node.size, WINDOW // readers, self._blocks.at_once)

    def _object(self, file: int) -> S3Object:
        etag, key = self.tree.etag_and_key(file, self._key_base)
        return S3Object(bucket=self._bucket, key=key, size=self.tree.size(file), etag=etag)

    def _fetch(self, file: int, start: int, buffer: memoryview) -> None:
        wanted = self._object(file)
        try:
            got = self._store.read_into(wanted, start, buffer)
        except S3Error as error:
            self._problem(f"{wanted.uri}: {error}")
            raise
        if got != len(buffer):
            text = f"it ended {len(buffer) - got} bytes too early"
            self._problem(f"{wanted.uri}: {text}")
            raise OSError(EIO, text)

    def _why(self, node: Node, cause: BaseException) -> Unread:
        code = cause.code if isinstance(cause, S3Error) else "RequestTimeout" if isinstance(cause, TimeoutError) else ""
        why = (cause.strerror if isinstance(cause, OSError) else None) or str(cause) or type(cause).__name__
        return Unread(uri=self._object(node.index).uri, code=code, why=why)


def _opened(table: dict[int, _Opened], handle: int) -> _Opened:
    found = table.get(handle)
    if found is None:
        raise OSError(EBADF, "it is not open")
    return found
