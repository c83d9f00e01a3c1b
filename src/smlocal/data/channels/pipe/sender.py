"""Sends the items of one epoch: unchanged, decompressed, or framed as RecordIO."""

import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from smlocal.base.quick_dataclass import dataclass
from smlocal.data.channels.pipe.fifo import FifoWriter
from smlocal.data.channels.pipe.items import Item, LocalObject, Streams
from smlocal.data.channels.pipe.object_bytes import (
    LocalBytes,
    MemoryBytes,
    ObjectBytes,
    RemoteBytes,
    Source,
    decompressed,
)
from smlocal.data.sources.s3.interface import S3Object
from smlocal.data.sources.s3.object_stream import ObjectStream

_KEPT = 32 << 20
"""Up to this size decompressed data is kept until its length is known; longer data is decompressed twice."""


class Sender:
    """Sends items to one FIFO; objects in S3 come from `stream`, which reads ahead in the same order."""

    def __init__(
        self, writer: "FifoWriter", *, record_io: bool, gzip: bool, streams: "Streams", stream: "ObjectStream | None"
    ) -> None:
        self._writer = writer
        self._record_io = record_io
        self._gzip = gzip
        self._streams = streams
        self._stream = stream
        self._found: S3Object

    def send(self, items: Iterable[Item]) -> None:
        """Send all of them, to the last byte."""
        for item in items:
            if isinstance(item, bytes):
                self._send_attribute(item)
                continue
            with self._open(item, self._stream) as body:
                if self._gzip:
                    self._send_decompressed(item, body)
                else:
                    self._send_record(body.size, body)
                body.finish()
        self._writer.flush()

    def _send_attribute(self, text: bytes) -> None:
        """Send an attribute: there may be millions, each shorter than the longest part."""
        if self._record_io:
            (part,) = parts(len(text))
            text = part.header + text + part.padding
        self._writer.write(text)

    def _send_record(self, size: int, source: Source) -> None:
        if not self._record_io:
            source.send(self._writer, size)
            return
        for part in parts(size):
            self._writer.write(part.header)
            source.send(self._writer, part.length)
            self._writer.write(part.padding)

    def _send_decompressed(self, item: LocalObject | S3Object, body: ObjectBytes) -> None:
        pieces = decompressed(body)
        if not self._record_io:
            for piece in pieces:
                self._writer.write(piece)
            return
        # A record begins with its length, which is known only at the object's end.
        kept: list[bytes] = []
        size = 0
        for piece in pieces:
            size += len(piece)
            kept.append(piece)
            if size > _KEPT:
                kept.clear()
                break
        else:
            self._send_record(size, MemoryBytes(body.uri, kept))
            return
        size += sum(map(len, pieces))
        with self._again(item) as same:
            again = MemoryBytes(body.uri, decompressed(same))
            self._send_record(size, again)
            again.finish()
            same.finish()

    @contextmanager
    def _open(self, item: LocalObject | S3Object, stream: "ObjectStream | None") -> Iterator[ObjectBytes]:
        if isinstance(item, LocalObject):
            with LocalBytes(item) as body:
                yield body
            return
        if stream is None:
            raise TypeError(item.uri)
        self._writer.flush()  # fetching the next object may take time
        found = stream.open_next()
        if found is None or (found.bucket, found.key) != (item.bucket, item.key):
            raise RuntimeError(f"expected {item.uri} next, not {found}")
        self._found = found
        yield RemoteBytes(stream, found, self._writer)

    @contextmanager
    def _again(self, item: LocalObject | S3Object) -> Iterator[ObjectBytes]:
        """The same object from its start."""
        if isinstance(item, LocalObject):
            with self._open(item, None) as body:
                yield body
            return
        found = self._found  # with its ETag, so that it is the same version
        with self._streams.open([found]) as stream, self._open(found, stream) as body:
            yield body


# RecordIO framing of objects.

MAGIC = 0xCED7230A
MOST = (1 << 29) - 1
"""The longest part: its length has 29 bits."""

_WHOLE, _FIRST, _MIDDLE, _LAST = range(4)
_ALIGNMENT = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordPart:
    """The bytes before and after `length` bytes of a payload."""

    header: bytes
    length: int
    padding: bytes


def parts(length: int, most: int = MOST) -> Iterator[RecordPart]:
    """RecordPart a payload of `length` bytes, in several parts if it is too long for one.

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


def _part(flag: int, length: int) -> RecordPart:
    return RecordPart(
        header=struct.pack("<II", MAGIC, flag << 29 | length),
        length=length,
        padding=bytes(-length % _ALIGNMENT),
    )
