"""The bytes of one object, from a file, from S3 or from memory, as they are or decompressed, to be sent to a FIFO."""

import io
import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Protocol, Self

from isal import igzip

from smlocal.base.gzip_errors import GZIP_ERRORS
from smlocal.base.no_links import open_file, regular
from smlocal.data.channels.pipe.failures import changed, not_gzip, unreadable
from smlocal.data.channels.pipe.fifo import FifoWriter
from smlocal.data.channels.pipe.items import LocalObject
from smlocal.data.sources.s3.interface import S3Object

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

    from smlocal.data.sources.s3.object_stream import ObjectStream


class Source(Protocol):
    """Bytes that can be sent in order."""

    def send(self, writer: FifoWriter, count: int) -> None:
        """Send the next `count` bytes; `FeedError` where there are fewer."""
        ...


class ObjectBytes(Source, Protocol):
    """One object from its first byte to its last."""

    uri: str
    size: int

    def readinto(self, buffer: memoryview) -> int:
        """Read the next bytes, none at the end."""
        ...

    def finish(self) -> None:
        """Check, after all bytes were sent, that the object has not changed; `FeedError` if it has."""


class LocalBytes:
    """A file, closed when the context ends."""

    def __init__(self, item: LocalObject) -> None:
        """Open the file; `FeedError` if it is no longer a regular file."""
        self.uri = item.uri
        try:
            self._file = open_regular(item.path, links=item.links)
        except OSError as error:
            raise unreadable(item.uri, error) from error
        self._status = os.fstat(self._file)
        self.size = self._status.st_size
        self._position = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    def send(self, writer: FifoWriter, count: int) -> None:
        """Send the next bytes, without copying them to this process where possible."""
        try:
            done = writer.splice(self._file, self._position, count)
        except OSError as error:
            raise unreadable(self.uri, error) from error
        if done < count:
            raise changed(self.uri)
        self._position += count

    def readinto(self, buffer: memoryview) -> int:
        """Read the next bytes."""
        try:
            done = os.preadv(self._file, [buffer], self._position)
        except OSError as error:
            raise unreadable(self.uri, error) from error
        self._position += done
        return done

    def finish(self) -> None:
        """Check that size and modification time are as they were."""
        now = os.fstat(self._file)
        if (now.st_size, now.st_mtime_ns) != (self._status.st_size, self._status.st_mtime_ns):
            raise changed(self.uri)


class RemoteBytes:
    """The current object of a stream from S3."""

    def __init__(self, stream: "ObjectStream", item: S3Object, writer: FifoWriter) -> None:
        """Wait for the first bytes, so that a record header is sent together with them."""
        if item.size is None:
            raise TypeError(item.uri)
        self.uri = item.uri
        self.size = item.size
        self._stream = stream
        self._writer = writer
        self._piece = stream.read()

    def send(self, writer: FifoWriter, count: int) -> None:
        """Send the next bytes, piece by piece."""
        while count:
            piece = self._next()
            if not piece:
                raise changed(self.uri)
            part = piece[:count]
            writer.write(part)
            self._piece = piece[len(part) :]
            count -= len(part)

    def readinto(self, buffer: memoryview) -> int:
        """Read the next bytes."""
        piece = self._next()
        count = min(len(piece), len(buffer))
        buffer[:count] = piece[:count]
        self._piece = piece[count:]
        return count

    def finish(self) -> None:
        """Check that there are no more bytes; that the object is the same one is checked by its ETag."""
        if self._next():
            raise changed(self.uri)

    def _next(self) -> memoryview:
        if not self._piece:
            self._writer.flush()  # the reader may be waiting for these bytes while more are fetched
            self._piece = self._stream.read()
        return self._piece


class MemoryBytes:
    """Bytes from an iterator."""

    def __init__(self, uri: str, pieces: Iterable[bytes]) -> None:
        """`pieces` must not be empty ones."""
        self._uri = uri
        self._pieces = iter(pieces)
        self._rest = memoryview(b"")

    def send(self, writer: FifoWriter, count: int) -> None:
        """Send the next bytes."""
        while count:
            if not self._rest:
                self._rest = memoryview(self._next())
            if not self._rest:
                raise changed(self._uri)
            part = self._rest[:count]
            writer.write(part)
            self._rest = self._rest[len(part) :]
            count -= len(part)

    def finish(self) -> None:
        """Check that no bytes are left."""
        if self._rest or self._next():
            raise changed(self._uri)

    def _next(self) -> bytes:
        return next(self._pieces, b"")


def open_regular(path: str, *, links: bool) -> int:
    """Open a regular file for reading; `OSError` if it is something else by now."""
    if not links:
        return open_file(path)
    # Non-blocking: opening a FIFO would wait for a writer.
    return regular(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), path)


# Decompresses objects while they are sent.

_PIECE = 1 << 20


class _File(io.RawIOBase):
    """An object as a file for the decompressor."""

    def __init__(self, body: "ObjectBytes") -> None:
        self._body = body

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        return self._body.readinto(memoryview(buffer).cast("B"))


def decompressed(body: "ObjectBytes") -> Iterator[bytes]:
    """Decompress all members of a gzip object; zeros after the last one are ignored, and an empty object stays empty.

    `FeedError` if it is not gzip, is damaged or ends early; the bytes before that were yielded by then.
    """
    with igzip.IGzipFile(fileobj=_File(body), mode="rb") as file:  # type: ignore[no-untyped-call] # published so
        while True:
            try:
                piece = file.read1(_PIECE)
            except GZIP_ERRORS as error:
                raise not_gzip(body.uri, error) from error
            if not piece:
                return
            yield piece
