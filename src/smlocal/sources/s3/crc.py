"""The CRCs that S3 gives, as fast as memory is.

`isal` has no Python name for two of them, but the library inside it does. Where a build of `isal` hides them they are
added up in Python: just as right, and a thousand times slower.
"""

from collections.abc import Callable
from functools import cache

LENGTHS = {"crc32": 4, "crc32c": 4, "crc64nvme": 8}
"""Bytes of each."""

_POLYNOMIALS = {"crc32c": 0x82F63B78, "crc64nvme": 0x9A6C9329AC4BC9B5}
_ALL = 0xFFFFFFFF

Add = Callable[[memoryview, int], int]
"""Takes bytes and the CRC of those before them, 0 at first; returns the CRC of all."""


class Crc:
    """One sum, with the verbs of those in `hashlib`."""

    def __init__(self, kind: str) -> None:
        """Of no bytes yet."""
        self._add = adding(kind)
        self._length = LENGTHS[kind]
        self._value = 0

    def update(self, data: memoryview) -> None:
        """Add the next bytes, 2 GiB of them at most."""
        self._value = self._add(data, self._value)

    def digest(self) -> bytes:
        """As S3 spells it, before base64."""
        return self._value.to_bytes(self._length, "big")


@cache
def adding(kind: str) -> Add:
    """The fastest way there is."""
    if kind == "crc32":
        from isal.isal_zlib import crc32

        return crc32
    return in_library(kind) or in_python(kind)


def in_library(kind: str) -> Add | None:
    """By the instructions of the processor; None where this build of `isal` does not let us."""
    import ctypes

    from isal import isal_zlib

    # Found, too, where the distribution has the library in a file of its own: that is loaded together with this one.
    library = ctypes.CDLL(isal_zlib.__file__)

    def place(data: memoryview) -> object:
        return bytes(data) if data.readonly else ctypes.byref(ctypes.c_char.from_buffer(data))

    try:
        if kind == "crc32c":
            iscsi = library.crc32_iscsi
            iscsi.argtypes, iscsi.restype = [ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32], ctypes.c_uint32
            return lambda data, value: iscsi(place(data), len(data), value ^ _ALL) ^ _ALL if data else value
        nvme = library.crc64_rocksoft_refl
        nvme.argtypes, nvme.restype = [ctypes.c_uint64, ctypes.c_void_p, ctypes.c_uint64], ctypes.c_uint64
    except AttributeError:
        return None
    return lambda data, value: nvme(value, place(data), len(data)) if data else value


def in_python(kind: str) -> Add:
    """Byte by byte."""
    polynomial, ones = _POLYNOMIALS[kind], (1 << 8 * LENGTHS[kind]) - 1
    table = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (polynomial if value & 1 else 0)
        table.append(value)

    def add(data: memoryview, value: int) -> int:
        value ^= ones
        for byte in data:
            value = table[(value ^ byte) & 255] ^ value >> 8
        return value ^ ones

    return add
