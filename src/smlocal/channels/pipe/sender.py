"""The objects of one epoch, one after the other, as the channel wants them: decompressed, framed, or as they are."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from smlocal.channels.pipe.gunzip import decompressed
from smlocal.channels.pipe.items import Item, LocalObject
from smlocal.channels.pipe.object_bytes import LocalBytes, MemoryBytes, ObjectBytes, RemoteBytes, Source
from smlocal.channels.recordio import parts
from smlocal.sources.s3.interface import S3Object

if TYPE_CHECKING:
    from smlocal.channels.pipe.fifo_writer import FifoWriter
    from smlocal.channels.pipe.streams import Streams
    from smlocal.sources.s3.object_stream import ObjectStream

_KEPT = 32 << 20
"""So much decompressed data is kept to learn its length; what is longer is decompressed twice."""


class Sender:
    """Sends items to one outlet; what is in S3 comes from `stream`, which reads ahead in the same order."""

    def __init__(
        self, outlet: "FifoWriter", *, record_io: bool, gzip: bool, streams: "Streams", stream: "ObjectStream | None"
    ) -> None:
        self._outlet = outlet
        self._record_io = record_io
        self._gzip = gzip
        self._streams = streams
        self._stream = stream
        self._found: S3Object

    def send(self, items: Iterable[Item]) -> None:
        """Send all of them, to the last byte."""
        for item in items:
            if isinstance(item, bytes):
                self._text(item)
                continue
            with self._body(item, self._stream) as body:
                if self._gzip:
                    self._decompressed(item, body)
                else:
                    self._framed(body.size, body)
                body.finish()
        self._outlet.flush()

    def _text(self, text: bytes) -> None:
        """There may be millions of them, and none is as long as a part may be."""
        if self._record_io:
            (part,) = parts(len(text))
            text = part.header + text + part.padding
        self._outlet.write(text)

    def _framed(self, size: int, source: Source) -> None:
        if not self._record_io:
            source.send(self._outlet, size)
            return
        for part in parts(size):
            self._outlet.write(part.header)
            source.send(self._outlet, part.length)
            self._outlet.write(part.padding)

    def _decompressed(self, item: LocalObject | S3Object, body: ObjectBytes) -> None:
        pieces = decompressed(body)
        if not self._record_io:
            for piece in pieces:
                self._outlet.write(piece)
            return
        # A record begins with its length, which only the end of the object tells.
        kept: list[bytes] = []
        size = 0
        for piece in pieces:
            size += len(piece)
            kept.append(piece)
            if size > _KEPT:
                kept.clear()
                break
        else:
            self._framed(size, MemoryBytes(body.uri, kept))
            return
        size += sum(map(len, pieces))
        with self._again(item) as same:
            again = MemoryBytes(body.uri, decompressed(same))
            self._framed(size, again)
            again.finish()
            same.finish()

    @contextmanager
    def _body(self, item: LocalObject | S3Object, stream: "ObjectStream | None") -> Iterator[ObjectBytes]:
        if isinstance(item, LocalObject):
            with LocalBytes(item) as body:
                yield body
            return
        if stream is None:
            raise TypeError(item.uri)
        self._outlet.flush()  # the next object may take its time
        found = stream.open_next()
        if found is None or (found.bucket, found.key) != (item.bucket, item.key):
            raise RuntimeError(f"{item.uri} was to come next, not {found}")
        self._found = found
        yield RemoteBytes(stream, found, self._outlet)

    @contextmanager
    def _again(self, item: LocalObject | S3Object) -> Iterator[ObjectBytes]:
        """The same object from its beginning."""
        if isinstance(item, LocalObject):
            with self._body(item, None) as body:
                yield body
            return
        found = self._found  # with its ETag, so that it is the very same
        with self._streams.open([found]) as stream, self._body(found, stream) as body:
            yield body
