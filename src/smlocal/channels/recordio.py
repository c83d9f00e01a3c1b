"""RecordIO framing of objects."""

import struct
from collections.abc import Iterator

from smlocal.quick_dataclass import dataclass

MAGIC = 0xCED7230A
MOST = (1 << 29) - 1
"""The longest part: its length has 29 bits."""

_WHOLE, _FIRST, _MIDDLE, _LAST = range(4)
_ALIGNMENT = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """The bytes before and after `length` bytes of a payload."""

    header: bytes
    length: int
    padding: bytes


def parts(length: int, most: int = MOST) -> Iterator[Part]:
    """Frame a payload of `length` bytes, in several parts if it is too long for one.

    A payload that contains the magic word is not split there, as the original format does: two of the readers in use
    only join parts, and would lose the four bytes that the format leaves out.
    """
    if length <= most:
        yield _part(_WHOLE, length)
        return
    yield _part(_FIRST, most)
    left = length - most
    while left > most:
        yield _part(_MIDDLE, most)
        left -= most
    yield _part(_LAST, left)


def _part(flag: int, length: int) -> Part:
    return Part(
        header=struct.pack("<II", MAGIC, flag << 29 | length),
        length=length,
        padding=bytes(-length % _ALIGNMENT),
    )
