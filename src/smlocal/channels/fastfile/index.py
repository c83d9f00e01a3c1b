"""Writes a listing to an index file, which the server of a FastFile channel maps into memory.

The file has a header, one record per object in the byte order of the paths, the end of each record, and the sizes. A
record is path, NUL, ETag, NUL, and the key if it is not key base and path. An empty folder is a record whose path ends
with `/`.
"""

import heapq
import os
import struct
from array import array
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import BinaryIO

from smlocal.contract.listing import Listing

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
