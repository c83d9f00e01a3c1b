"""The interface of the S3 client: objects, errors, the calls that readers use, and checksums."""

import hashlib
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

from smlocal.base.quick_dataclass import dataclass
from smlocal.terms.listing import Listing

# CRC32 is computed by isal; CRC32C and CRC64NVME by AWS's common runtime (`awscrt`) where it is installed. In Python
# they would take a thousand times as long.

CRC_BYTES = {"crc32": 4, "crc32c": 4, "crc64nvme": 8}

CrcFunction = Callable[[memoryview, int], int]
"""Takes bytes and the CRC of the bytes before them, 0 at first; returns the CRC of all."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredChecksum:
    """A checksum that S3 has for an object."""

    kind: str
    """`sha256`, `crc32`, …"""
    value: bytes
    parts: int = 0
    """How many parts have checksums of their own, of which this is the checksum; 0 for one over all bytes."""


class Checksum:
    """Adds up an object's bytes, given in order, and compares; without a stored checksum it always matches."""

    def __init__(self, stored: StoredChecksum | None, part_lengths: Iterable[int] = ()) -> None:
        """Start at the first byte; `part_lengths` are needed for a checksum of part checksums."""
        self._stored = stored
        if stored is None:
            return
        self._whole = self._sum = _new_sum(stored.kind)
        self._left = sys.maxsize  # until the end of the part
        if stored.parts:
            self._sum = _new_sum(stored.kind)
            self._lengths = iter(part_lengths)
            self._left = next(self._lengths)
            self._end_parts(stored.kind)

    @property
    def is_known(self) -> bool:
        """Whether there is anything to compare with."""
        return self._stored is not None

    @property
    def matches(self) -> bool:
        """Whether the bytes so far are those that S3 stored."""
        return self._stored is None or self._whole.digest() == self._stored.value

    def update(self, data: memoryview) -> None:
        """Add the next bytes."""
        if self._stored is None:
            return
        while data:
            piece = data[: self._left]
            self._sum.update(piece)
            self._left -= len(piece)
            data = data[len(piece) :]
            self._end_parts(self._stored.kind)

    def _end_parts(self, kind: str) -> None:
        while not self._left:
            self._whole.update(memoryview(self._sum.digest()))
            self._sum = _new_sum(kind)
            self._left = next(self._lengths, sys.maxsize)


class Crc:
    """A CRC with the methods of the checksums in `hashlib`."""

    def __init__(self, kind: str) -> None:
        """ValueError where this CRC cannot be computed."""
        function = crc_function(kind)
        if function is None:
            raise ValueError(f"{kind} needs awscrt")
        self._function = function
        self._length = CRC_BYTES[kind]
        self._value = 0

    def update(self, data: memoryview) -> None:
        """Add the next bytes."""
        self._value = self._function(data, self._value)

    def digest(self) -> bytes:
        """The bytes that S3 encodes in base64."""
        return self._value.to_bytes(self._length, "big")


@cache
def crc_function(kind: str) -> CrcFunction | None:
    """The function that computes a CRC; None where that needs awscrt, which is missing or too old."""
    if kind == "crc32":
        from isal.isal_zlib import crc32

        return crc32
    try:
        from awscrt import checksums
    except ImportError:
        return None
    found: CrcFunction | None = getattr(checksums, kind, None)
    return found


def _new_sum(kind: str) -> Any:
    if kind in CRC_BYTES:
        return Crc(kind)

    return hashlib.new(kind, usedforsecurity=False)  # S3's own checksums guard against accidents only


class S3Object(NamedTuple):
    """One object; size and ETag are None until they are known. A listing makes millions of these."""

    bucket: str
    key: str
    size: int | None = None
    etag: str | None = None
    """As S3 sends it, with its quotes; every read then requires this version."""

    @property
    def uri(self) -> str:
        """`s3://bucket/key`."""
        return f"s3://{self.bucket}/{self.key}"


def listed_object(listing: Listing, index: int) -> S3Object:
    """Object `index` of a listing; its size and ETag are None if the listing has none."""
    return S3Object(
        listing.bucket,
        listing.key(index),
        listing.sizes[index] if listing.sizes else None,
        (listing.etags[index] or None) if listing.etags else None,
    )


class S3Error(Exception):
    """The error S3 answered, or why it did not answer: a code and a message, as in S3's error documents."""

    def __init__(self, code: str, message: str, *, status: int = 0, uri: str = "", operation: str = "") -> None:
        """`status` 0 means that there was no answer in time."""
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status
        self.uri = uri
        self.operation = operation
        """The name of the request in S3's API: GetObject."""


class ObjectStore(Protocol):
    """The calls of S3 that readers use; safe to use from many threads. All raise `S3Error`."""

    def list_objects(self, bucket: str, prefix: str) -> Iterator[S3Object]:
        """Every object whose key begins with `prefix`, in the server's order, page by page."""

    def head(self, bucket: str, key: str) -> S3Object:
        """Size and ETag of one object."""
        ...

    def read_into(self, wanted: S3Object, start: int, buffer: memoryview) -> int:
        """Fill `buffer` from `start` on and return the number of bytes, smaller only at the object's end."""
        ...

    def read_first(self, wanted: S3Object, most: int) -> tuple[S3Object, bytes]:
        """The first bytes of an object of unknown size, and the object with its size and ETag."""
        ...

    def checksum(self, of: S3Object) -> "Checksum":
        """The checksum of an object that is read in pieces; one that is read in one call has been compared."""
        ...


@runtime_checkable
class InterruptibleStore(ObjectStore, Protocol):
    """A store whose calls can be cancelled while they wait."""

    def until(self, cancelled: Callable[[], bool]) -> Self:
        """The same store for a caller who may cancel: its calls then raise within a second."""
        ...
