"""The framing that `RecordWrapperType: RecordIO` puts around every object, so that a reader finds its end."""

import struct
from collections.abc import Iterator

from smlocal.quick_dataclass import dataclass

MAGIC = 0xCED7230A
MOST = (1 << 29) - 1
"""Bytes in one part: its length has 29 bits."""

_WHOLE, _FIRST, _MIDDLE, _LAST = range(4)
_ALIGNMENT = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """What goes before and after `length` bytes of a payload."""

    header: bytes
    length: int
    padding: bytes


def parts(length: int, most: int = MOST) -> Iterator[Part]:
    """Frame a payload of `length` bytes: in one part, or in several where one cannot hold it.

    A payload that has the magic word in it stays whole: of the readers in use two only join parts, and would lose the
    four bytes that the original format leaves out between them.
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
