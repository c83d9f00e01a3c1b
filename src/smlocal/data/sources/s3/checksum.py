"""Checksums of objects: which ones can be computed here, and a running sum over an object's bytes.

CRC32 is computed by isal; CRC32C and CRC64NVME by AWS's common runtime (`awscrt`) where it is installed. In Python they
would take a thousand times as long.
"""

import hashlib
import sys
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from smlocal.base.quick_dataclass import dataclass

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
