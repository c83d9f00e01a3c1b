"""What the process of a FastFile channel and the job share: the index of its objects, and those that were not read."""

import heapq
import json
import mmap
import os
import struct
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import pairwise
from threading import Lock
from typing import BinaryIO

from smlocal.base.quick_dataclass import dataclass
from smlocal.terms.listing import Listing

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


# Writes a listing to an index file, which the server of a FastFile channel maps into memory.
#
# The file has a header, one record per object in the byte order of the paths, the end of each record, and the sizes.
# A record is path, NUL, ETag, NUL, and the key if it is not key base and path. An empty folder is a record whose path
# ends with `/`.

HEADER = struct.Struct("<8sQQQ")
"""Magic, number of records, their bytes (a multiple of eight), and the bytes of all objects."""
MAGIC = b"fastfile"
WORD = 8
_FOLDER = -1


def write_index(listing: Listing, path: str) -> None:
    """Write the index of a listing in S3 to the new file `path`."""
    with open(path, "xb", buffering=1 << 20) as file:
        file.write(bytes(HEADER.size))
        ends, sizes, written = _write_records(listing, file)
        file.write(bytes(-written % WORD))
        ends.tofile(file)
        sizes.tofile(file)
        file.seek(0)
        file.write(HEADER.pack(MAGIC, len(ends), written + -written % WORD, sum(sizes)))


def _write_records(listing: Listing, file: BinaryIO) -> tuple["array[int]", "array[int]", int]:
    ends, sizes, written = array("Q"), array("Q"), 0
    for path, number in _in_order(listing):
        etag = os.fsencode(listing.etags[number]) if number != _FOLDER and listing.etags else b""
        key = os.fsencode(listing.keys[number]) if number != _FOLDER and listing.keys else b""
        record = b"%b\0%b\0%b" % (path, etag, key)
        file.write(record)
        written += len(record)
        ends.append(written)
        sizes.append(0 if number == _FOLDER else listing.sizes[number])
    return ends, sizes, written


def _in_order(listing: Listing) -> Iterable[tuple[bytes, int]]:
    """Every path as bytes, with its position in the listing; sorted if the listing is not."""
    places: Iterable[int] = range(len(listing.paths))
    if any(one > other for one, other in pairwise(map(os.fsencode, listing.paths))):
        places = sorted(places, key=lambda place: os.fsencode(listing.paths[place]))
    folders = sorted((os.fsencode(f"{folder}/"), _FOLDER) for folder in listing.directories)
    return heapq.merge(_with_paths(listing, places), folders) if folders else _with_paths(listing, places)


def _with_paths(listing: Listing, places: Iterable[int]) -> Iterator[tuple[bytes, int]]:
    return ((os.fsencode(listing.paths[place]), place) for place in places)


NOT_CHECKED = "NotChecked"
"""In place of S3's code: the object was read, but its checksum could not be compared; `why` is the kind of checksum."""

_MOST = 100
"""Objects that are recorded; a program that ignores errors may have a million."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Unread:
    """A read that failed with EIO in the container."""

    uri: str
    code: str
    """S3's code, such as `NoSuchKey`; `RequestTimeout` without an answer; empty if there is none."""
    why: str


class UnreadLog:
    """Used by the server; safe to use from many threads."""

    def __init__(self, path: str) -> None:
        """The file is made when there is something to write."""
        self._path = path
        self._seen: set[tuple[str, str]] = set()
        self._lock = Lock()

    def add_first(self, unread: Unread) -> None:
        """Record only the first one with its code."""
        if not any(code == unread.code for _, code in list(self._seen)):
            self.add(unread)

    def add(self, unread: Unread) -> None:
        """Record a failed read, once for each object and cause."""
        with self._lock:
            key = (unread.uri, unread.code)
            if key in self._seen or len(self._seen) >= _MOST:
                return
            self._seen.add(key)
            line = json.dumps([unread.uri, unread.code, unread.why])
            # A full disk makes the job fail anyway.
            with suppress(OSError), open(self._path, "a", encoding="utf-8") as file:
                file.write(f"{line}\n")


def read_unread(path: str) -> list[Unread]:
    """The record; empty if every read succeeded."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        lines = [line for line in file if line.endswith("\n")]  # the last line may be incomplete
    return [Unread(uri=uri, code=code, why=why) for uri, code, why in map(json.loads, lines)]
