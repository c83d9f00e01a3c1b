"""The folders and files of an index; folders follow from the paths and are not stored."""

import mmap
from bisect import bisect_left
from collections.abc import Iterator

from smlocal.channels.fastfile.index import HEADER, MAGIC
from smlocal.quick_dataclass import dataclass

_DEPTH_BITS = 10
"""A key has at most 1,024 bytes, so a path has fewer folders."""
ROOT_INODE = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """A file, or a folder whose first record is `index`."""

    index: int
    folder: bool
    inode: int
    size: int = 0


class Tree:
    """Looks paths up in a mapped index; safe to use from many threads."""

    def __init__(self, path: str) -> None:
        """Map the file into memory."""
        with open(path, "rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        magic, self.count, records, self.total_bytes = HEADER.unpack_from(self._map)
        if magic != MAGIC:
            raise ValueError(f"{path} is not an index of a FastFile channel")
        words = memoryview(self._map)[HEADER.size + records :].cast("Q")
        if len(words) != 2 * self.count:
            raise ValueError(f"{path} is incomplete")
        self._ends = words[: self.count]
        self._sizes = words[self.count :]

    def lookup(self, path: bytes) -> Node | None:
        """The node at `path`, which has no `/` at either end; the empty path is the top folder."""
        if not path:
            return Node(index=0, folder=True, inode=ROOT_INODE)
        file = path + b"\0"
        place = self._first(file)
        if place < self.count and self._record(place).startswith(file):
            return self._file(place)
        below = path + b"/"
        place = self._first(below)
        if place < self.count and self._record(place).startswith(below):
            return _folder(place, below.count(b"/"))
        return None

    def children(self, path: bytes, start: int) -> Iterator[tuple[bytes, Node, int]]:
        """Name, node and next record of every entry of a folder, from record `start` on."""
        prefix = path + b"/" if path else b""
        place = start
        while place < self.count:
            found = self._path(place)
            if not found.startswith(prefix):
                return
            name, slash, _ = found[len(prefix) :].partition(b"/")
            if slash:
                node = _folder(place, prefix.count(b"/") + 1)
                place = self._first(prefix + name + b"0", place)  # `0` follows `/` in ASCII
            else:
                node = self._file(place)
                place += 1
            if name:  # an empty name is the marker of this folder
                yield name, node, place

    def etag_and_key(self, index: int, key_base: str) -> tuple[str | None, str]:
        """The ETag and the key of one object."""
        path, etag, key = self._record(index).split(b"\0", 2)
        full_key = key.decode("utf-8", "surrogateescape") or key_base + path.decode("utf-8", "surrogateescape")
        return etag.decode() or None, full_key

    def size(self, index: int) -> int:
        """The size of one object."""
        return self._sizes[index]

    def _first(self, target: bytes, low: int = 0) -> int:
        return bisect_left(range(self.count), target, lo=low, key=self._record)

    def _record(self, index: int) -> bytes:
        start = self._ends[index - 1] if index else 0
        return self._map[HEADER.size + start : HEADER.size + self._ends[index]]

    def _path(self, index: int) -> bytes:
        return self._record(index).partition(b"\0")[0]

    def _file(self, index: int) -> Node:
        return Node(index=index, folder=False, inode=index + 1 << _DEPTH_BITS, size=self._sizes[index])


def _folder(first: int, depth: int) -> Node:
    """Folders with the same first record differ in depth."""
    return Node(index=first, folder=True, inode=(first + 1 << _DEPTH_BITS) | depth)
