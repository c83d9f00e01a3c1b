"""The CRCs that S3 gives: CRC32 by isal, the others by AWS's common runtime (`awscrt`) where it is installed.

In Python they would take a thousand times as long; an object is not checked by a CRC that cannot be computed here.
"""

from collections.abc import Callable
from functools import cache

LENGTHS = {"crc32": 4, "crc32c": 4, "crc64nvme": 8}
"""Bytes of each."""

Add = Callable[[memoryview, int], int]
"""Takes bytes and the CRC of those before them, 0 at first; returns the CRC of all."""


class Crc:
    """One sum, with the verbs of those in `hashlib`."""

    def __init__(self, kind: str) -> None:
        """Of no bytes yet; ValueError where it cannot be computed."""
        add = adding(kind)
        if add is None:
            raise ValueError(f"{kind} needs awscrt")
        self._add = add
        self._length = LENGTHS[kind]
        self._value = 0

    def update(self, data: memoryview) -> None:
        """Add the next bytes."""
        self._value = self._add(data, self._value)

    def digest(self) -> bytes:
        """As S3 spells it, before base64."""
        return self._value.to_bytes(self._length, "big")


@cache
def adding(kind: str) -> Add | None:
    """What adds bytes to a CRC; None where awscrt is needed and missing or too old."""
    if kind == "crc32":
        from isal.isal_zlib import crc32

        return crc32
    try:
        from awscrt import checksums
    except ImportError:
        return None
    found: Add | None = getattr(checksums, kind, None)
    return found
