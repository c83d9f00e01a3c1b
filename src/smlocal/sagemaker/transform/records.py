"""The records of an input object, and the payloads that they are sent in.

Nothing is read that is larger than a payload may be, whatever length the data states.
"""

import struct
from collections.abc import Iterator
from typing import BinaryIO, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.sagemaker.transform.facts import HELD_TOO_LARGE, MEGABYTE, MOST_MB, SINGLE, TOO_LARGE

_PIECE: Final = 1 << 20
_RECORDIO_MAGIC: Final = 0xCED7230A
_LENGTH_BITS: Final = 29
_WHOLE, _FIRST, _LAST = 0, 1, 3
_CHECKSUM: Final = 4
_HEADS: Final = {"RecordIO": 8, "TFRecord": 12}
"""Bytes before a record: a magic number and a length, or a length and its checksum."""


class RecordsError(Exception):
    """The object cannot be sent: it is not in the format, or a record is too large."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Limit:
    """The most bytes of a payload."""

    most: int
    sentence: str
    """Said if there are more."""

    def check(self, size: int) -> None:
        if size > self.most:
            raise RecordsError(self.sentence)


def payloads(file: BinaryIO, *, split: str, strategy: str, most: int | None) -> Iterator[bytes]:
    """The payloads of an object. `most`: bytes of one; None: the service has no limit, and memory has."""
    limit = _Limit(most=most or MOST_MB * MEGABYTE, sentence=TOO_LARGE if most else HELD_TOO_LARGE)
    single = strategy == SINGLE
    if split == "Line" and single:
        yield from _lines(file, limit)
    elif split == "Line" and most is not None:
        yield from _many_lines(file, limit)
    elif split in _HEADS:
        frames = _recordio if split == "RecordIO" else _tfrecords
        records = frames(file, single=single, limit=limit)
        yield from records if single else _batches(records, limit, one=most is None)
    else:
        yield from _whole(file, limit)


def streamed(file: BinaryIO, *, split: str) -> Iterator[bytes]:
    """A whole object in pieces, for one payload without a limit. No record is held."""
    if split in _HEADS:
        yield from _frame_pieces(file, split)
    else:
        while piece := file.read(_PIECE):
            yield piece


def _whole(file: BinaryIO, limit: _Limit) -> Iterator[bytes]:
    data = file.read(limit.most + 1)
    limit.check(len(data))
    if data:
        yield data


def _lines(file: BinaryIO, limit: _Limit) -> Iterator[bytes]:
    while line := file.readline(limit.most + 1):
        limit.check(len(line))
        yield line
        del line  # before the next one is read


def _many_lines(file: BinaryIO, limit: _Limit) -> Iterator[bytes]:
    """As many whole lines as fit."""
    rest = b""
    while True:
        data = rest + file.read(limit.most - len(rest))
        if len(data) < limit.most:  # the end of the file
            if data:
                yield data
            return
        cut = data.rfind(b"\n") + 1
        if not cut:
            if not file.read(1):
                yield data
                return
            raise RecordsError(limit.sentence)
        data, rest = data[:cut], data[cut:]
        yield data
        del data  # before more is read


def _batches(frames: Iterator[bytes], limit: _Limit, *, one: bool) -> Iterator[bytes]:
    """As many frames as fit. `one`: all have to."""
    batch = bytearray()  # a list of many small frames would take several times their size
    for frame in frames:
        limit.check(len(frame) + (len(batch) if one else 0))
        if batch and len(batch) + len(frame) > limit.most:
            yield _taken(batch)
        batch += frame
        del frame  # before the next one is read
    if batch:
        yield _taken(batch)


def _taken(batch: bytearray) -> bytes:
    data = bytes(batch)
    batch.clear()
    return data


def _recordio(file: BinaryIO, *, single: bool, limit: _Limit) -> Iterator[bytes]:
    """Records of RecordIO, each of one or several parts. One that is sent alone loses its frame, as the guide says."""
    record = bytearray()
    started = False
    while head := file.read(_HEADS["RecordIO"]):
        kind, length = _recordio_head(head)
        padding = -length % 4
        if kind in {_WHOLE, _FIRST}:
            record.clear()
        elif started and single:
            record += head[:4]  # parts are cut where the magic number was
        limit.check(len(record) + length + (0 if single else len(head) + padding))
        if not single:
            record += head
        data = file.read(length)
        if len(data) < length:
            raise RecordsError(_ends("RecordIO"))
        record += data
        del data
        padded = file.read(padding)
        if not single:
            record += padded
        started = kind not in {_WHOLE, _LAST}
        if not started:
            yield _taken(record)


def _tfrecords(file: BinaryIO, *, single: bool, limit: _Limit) -> Iterator[bytes]:
    """Records of TFRecord. One that is sent alone loses its frame."""
    while head := file.read(_HEADS["TFRecord"]):
        length = _tfrecord_head(head)
        limit.check(length + (0 if single else len(head) + _CHECKSUM))
        record = bytearray(b"" if single else head)
        record += file.read(length)
        checksum = file.read(_CHECKSUM)
        if len(checksum) < _CHECKSUM:
            raise RecordsError(_ends("TFRecord"))
        if not single:
            record += checksum
        yield _taken(record)


def _frame_pieces(file: BinaryIO, split: str) -> Iterator[bytes]:
    gathered = bytearray()
    while head := file.read(_HEADS[split]):
        gathered += head
        if split == "RecordIO":
            _, needed = _recordio_head(head)
            left = needed + -needed % 4
        else:
            left = needed = _tfrecord_head(head) + _CHECKSUM
        while left:
            if len(gathered) >= _PIECE // 2:
                yield _taken(gathered)
            piece = file.read(min(left, _PIECE // 2))
            if not piece:
                break
            gathered += piece
            left -= len(piece)
            needed -= len(piece)
        if needed > 0:
            raise RecordsError(_ends(split))
    if gathered:
        yield _taken(gathered)


def _recordio_head(head: bytes) -> tuple[int, int]:
    """The kind of a part, and its length."""
    magic, word = _unpacked("<II", head, "RecordIO")
    if magic != _RECORDIO_MAGIC:
        raise RecordsError("the data is not in the format RecordIO")
    return word >> _LENGTH_BITS, word & ((1 << _LENGTH_BITS) - 1)


def _tfrecord_head(head: bytes) -> int:
    """The length of a record. Its checksum is not computed."""
    return _unpacked("<QI", head, "TFRecord")[0]


def _unpacked(form: str, head: bytes, kind: str) -> tuple[int, int]:
    if len(head) < struct.calcsize(form):
        raise RecordsError(_ends(kind))
    first, second = struct.unpack(form, head)
    return first, second


def _ends(kind: str) -> str:
    return f"the data ends in a record of {kind}"
