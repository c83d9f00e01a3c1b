"""One record of an event file: lengths and checksums around a protocol buffer with one tensor.

Only what the library writes is read. Offsets in errors are those of the file.
"""

import math
import struct
from collections.abc import Iterator
from functools import lru_cache

from smlocal.debugger.tensors.tensor import TEXT, TYPES, Tensor
from smlocal.debugger.tensors.tensor_files import DamagedError

_HEAD, _TAIL = 12, 4


def _entry(number: int) -> int:
    for _ in range(8):
        number = number >> 1 ^ (0x82F63B78 if number & 1 else 0)
    return number


_TABLE = tuple(_entry(number) for number in range(256))


def masked_crc32c(data: bytes | memoryview) -> int:
    """CRC-32C as records of TensorFlow have it.

    It is rotated by 15 bits and shifted by a constant, so that checksums of checksums are no trouble.
    """
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return (crc >> 15 | crc << 17) + 0xA282EAD8 & 0xFFFFFFFF


_NO_CHECKSUM = masked_crc32c(b"0x12345678")
"""In place of the checksum of the content, unless the library was told to compute it."""
_MOST_DIGITS = 10
_LAST = 0x80
"""No byte but the last one of a number is less."""
_DIMENSION = 2
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_SIGNED = 1 << 63
Span = tuple[int, int]
"""Where the bytes of a field begin and end."""


def read_tensor(file: memoryview, start: int, length: int) -> tuple[str, int, Tensor]:
    """Name, step and value of the tensor in a record; `DamagedError` if there is none."""
    if start < 0 or length < _HEAD + _TAIL or start + length > len(file):
        raise DamagedError(start, f"the file has {len(file):,} bytes, and the record {length:,}")
    size, head_checksum = struct.unpack_from("<QI", file, start)
    if _checksum_of_length(size) != head_checksum:
        raise DamagedError(start, "the checksum of a record's length is wrong")
    begin, end = start + _HEAD, start + _HEAD + size
    if end + _TAIL > start + length:
        raise DamagedError(start, f"a record of {size:,} bytes is longer than the index says")
    (checksum,) = struct.unpack_from("<I", file, end)
    if checksum != _NO_CHECKSUM and checksum != masked_crc32c(file[begin:end]):
        raise DamagedError(start, "the checksum of a record is wrong")
    step, summary = 0, None
    for number, found in _fields(file, begin, end):
        if number == 2 and isinstance(found, int):  # noqa: PLR2004 - the numbers of fields, here and below
            step = found - (found >= _SIGNED) * 2 * _SIGNED
        elif number == 5:  # noqa: PLR2004 - as above
            summary = found
    name, tensor = _read_value(file, _span(file, _span(file, summary, begin), begin, 1))
    return name, step, tensor


@lru_cache
def _checksum_of_length(size: int) -> int:
    return masked_crc32c(struct.pack("<Q", size))


def _read_value(file: memoryview, value: Span) -> tuple[str, Tensor]:
    name, tensor = "", None
    for number, found in _fields(file, *value):
        if number == 1 and isinstance(found, tuple):
            name = _text(file, found)
        elif number == 8:  # noqa: PLR2004 - as above
            tensor = found
    return name, _read_content(file, _span(file, tensor, value[0]))


def _read_content(file: memoryview, tensor: Span) -> Tensor:
    number_of_type = 0
    shape: tuple[int, ...] = ()
    content: Span = (0, 0)
    texts: list[str] = []
    for number, found in _fields(file, *tensor):
        match number, found:
            case 1, int():
                number_of_type = found
            case 2, (int(), int()):
                shape = tuple(_size(file, dimension) for each, dimension in _fields(file, *found) if each == _DIMENSION)
            case 4, (int(), int()):
                content = found
            case 8, (int(), int()):
                texts.append(_text(file, found))
            case _:
                pass
    kind = TYPES.get(number_of_type)
    if kind is None:
        raise DamagedError(tensor[0], f"the data type {number_of_type} is not known")
    values = len(texts) if kind is TEXT else (content[1] - content[0]) / kind.size
    if values != math.prod(shape):
        raise DamagedError(tensor[0], f"a tensor of the shape {list(shape)} has {values:g} values")
    return Tensor(type=kind, shape=shape, content=file[slice(*content)], texts=tuple(texts))


def _size(file: memoryview, dimension: int | Span) -> int:
    if isinstance(dimension, int):
        return 0
    return next((found for number, found in _fields(file, *dimension) if number == 1 and isinstance(found, int)), 0)


def _span(file: memoryview, found: int | Span | None, at: int, number: int | None = None) -> Span:
    """The bytes of a field; of the field with this number in it."""
    if isinstance(found, tuple) and number is not None:
        found = next((inner for each, inner in _fields(file, *found) if each == number), None)
    if not isinstance(found, tuple):
        raise DamagedError(at, "a record has no tensor")
    return found


def _text(file: memoryview, span: Span) -> str:
    try:
        return str(file[slice(*span)], "utf-8")
    except UnicodeDecodeError:
        raise DamagedError(span[0], "text is not UTF-8") from None


def _fields(file: memoryview, at: int, end: int) -> Iterator[tuple[int, int | Span]]:
    """The fields of a message: number, and the value of a number or the place of bytes."""
    while at < end:
        begin = at
        key, at = _varint(file, at, end)
        kind = key & 7
        if kind == _VARINT:
            value, at = _varint(file, at, end)
            yield key >> 3, value
            continue
        if kind == _BYTES:
            length, at = _varint(file, at, end)
        else:
            length = {_FIXED64: 8, _FIXED32: 4}.get(kind, -1)
        if length < 0 or at + length > end:
            raise DamagedError(begin, "a field is not a field, or longer than its message")
        yield key >> 3, (at, at + length)
        at += length


def _varint(file: memoryview, at: int, end: int) -> tuple[int, int]:
    if at < end and file[at] < _LAST:
        return file[at], at + 1  # as nearly all are, so this is what counts for speed
    value = 0
    for digit, byte in enumerate(file[at : min(end, at + _MOST_DIGITS)]):
        value |= (byte & 0x7F) << 7 * digit
        if byte < _LAST:
            return value, at + digit + 1
    raise DamagedError(at, "a number does not end")
