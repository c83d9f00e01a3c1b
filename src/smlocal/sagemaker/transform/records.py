"""The records of an input object, and the payloads that they are sent in."""

import struct
from collections.abc import Callable, Iterator
from typing import BinaryIO, Final

from smlocal.sagemaker.transform.facts import SINGLE, TOO_LARGE

_PIECE: Final = 1 << 20
_RECORDIO_MAGIC: Final = 0xCED7230A
_LENGTH_BITS: Final = 29
_WHOLE, _FIRST, _LAST = 0, 1, 3
_TFRECORD_HEAD: Final = 12
"""Bytes of a length and its checksum."""
_CHECKSUM: Final = 4


class RecordsError(Exception):
    """The object cannot be sent: it is not in the format, or a record is too large."""


def payloads(file: BinaryIO, *, split: str, strategy: str, most: int | None) -> Iterator[bytes]:
    """The payloads of an object. `most`: bytes of one; None: no limit."""
    if split == "None":
        yield from _whole(file, most)
    elif split == "Line":
        yield from _lines(file, most) if strategy == SINGLE else _many_lines(file, most)
    else:
        framed = _recordio if split == "RecordIO" else _tfrecords
        yield from _framed(framed(file), single=strategy == SINGLE, most=most)


def _whole(file: BinaryIO, most: int | None) -> Iterator[bytes]:
    data = file.read() if most is None else _full(file.read, most + 1)
    _check(len(data), most)
    if data:
        yield data


def _lines(file: BinaryIO, most: int | None) -> Iterator[bytes]:
    while line := file.readline(-1 if most is None else most + 1):
        _check(len(line), most)
        yield line


def _many_lines(file: BinaryIO, most: int | None) -> Iterator[bytes]:
    """As many whole lines as fit."""
    if most is None:
        yield from _whole(file, None)
        return
    rest = b""
    while True:
        data = rest + _full(file.read, most - len(rest))
        if len(data) < most:  # the end of the file
            if data:
                yield data
            return
        cut = data.rfind(b"\n") + 1
        if not cut:
            following = file.read(1)
            if not following:
                yield data
                return
            raise RecordsError(TOO_LARGE)
        yield data[:cut]
        rest = data[cut:]


def _framed(records: Iterator[tuple[bytes, bytes]], *, single: bool, most: int | None) -> Iterator[bytes]:
    """Records with and without their frames. One that is sent alone loses its frame, as the guide says."""
    batch: list[bytes] = []
    size = 0
    for frame, content in records:
        if single:
            _check(len(content), most)
            yield content
            continue
        _check(len(frame), most)
        if most is not None and batch and size + len(frame) > most:
            yield b"".join(batch)
            batch, size = [], 0
        batch.append(frame)
        size += len(frame)
    if batch:
        yield b"".join(batch)


def _recordio(file: BinaryIO) -> Iterator[tuple[bytes, bytes]]:
    """Frames and contents of RecordIO. A record in several parts is one record."""
    frame: list[bytes] = []
    content: list[bytes] = []
    while head := _full(file.read, 8):
        magic, word = _unpacked("<II", head, "RecordIO")
        if magic != _RECORDIO_MAGIC:
            raise RecordsError("the data is not in the format RecordIO")
        kind, length = word >> _LENGTH_BITS, word & ((1 << _LENGTH_BITS) - 1)
        padded = length + -length % 4
        data = _full(file.read, padded)
        if len(data) < length:
            raise RecordsError("the data ends in a record of RecordIO")
        if kind in {_WHOLE, _FIRST}:
            frame, content = [], []
        elif content:
            content.append(struct.pack("<I", _RECORDIO_MAGIC))  # parts are cut where the magic number was
        frame += [head, data]
        content.append(data[:length])
        if kind in {_WHOLE, _LAST}:
            yield b"".join(frame), b"".join(content)


def _tfrecords(file: BinaryIO) -> Iterator[tuple[bytes, bytes]]:
    """Frames and contents of TFRecord."""
    while head := _full(file.read, _TFRECORD_HEAD):
        length, _ = _unpacked("<QI", head, "TFRecord")
        body = _full(file.read, length + _CHECKSUM)
        if len(body) < length + _CHECKSUM:
            raise RecordsError("the data ends in a record of TFRecord")
        yield head + body, body[:length]


def _unpacked(form: str, head: bytes, kind: str) -> tuple[int, int]:
    if len(head) < struct.calcsize(form):
        raise RecordsError(f"the data ends in a record of {kind}")
    first, second = struct.unpack(form, head)
    return first, second


def _full(read: Callable[[int], bytes], size: int) -> bytes:
    """So many bytes, unless the file ends. What a damaged length asks for is not allocated at once."""
    pieces, left = [], size
    while left and (piece := read(min(left, _PIECE))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _check(size: int, most: int | None) -> None:
    if most is not None and size > most:
        raise RecordsError(TOO_LARGE)
