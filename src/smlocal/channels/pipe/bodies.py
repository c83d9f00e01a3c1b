"""The bytes of one object, on their way from where they are to a FIFO."""

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol, Self

from smlocal.channels.pipe.failures import changed, unreadable
from smlocal.channels.pipe.items import LocalObject
from smlocal.channels.pipe.outlet import Outlet
from smlocal.channels.pipe.regular_file import open_regular
from smlocal.sources.s3.interface import S3Object

if TYPE_CHECKING:
    from smlocal.sources.s3.stream import ObjectStream


class Source(Protocol):
    """Bytes one after the other."""

    def send(self, outlet: Outlet, count: int) -> None:
        """Send the next `count` bytes; `FeedError` where there are fewer."""
        ...


class Body(Source, Protocol):
    """One object from its first byte to its last."""

    uri: str
    size: int

    def readinto(self, buffer: memoryview) -> int:
        """Read the next bytes, none at the end."""
        ...

    def finish(self) -> None:
        """See that it is still what it was, once all of it was sent."""


class LocalBody:
    """A file; close it by leaving the context."""

    def __init__(self, item: LocalObject) -> None:
        """Open the file, which must be a regular one still."""
        self.uri = item.uri
        try:
            self._file = open_regular(item.path)
        except OSError as error:
            raise unreadable(item.uri, error) from error
        self._status = os.fstat(self._file)
        self.size = self._status.st_size
        self._position = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    def send(self, outlet: Outlet, count: int) -> None:
        """Inside the kernel where it can."""
        try:
            done = outlet.splice(self._file, self._position, count)
        except OSError as error:
            raise unreadable(self.uri, error) from error
        if done < count:
            raise changed(self.uri)
        self._position += count

    def readinto(self, buffer: memoryview) -> int:
        """Read on from where it is."""
        try:
            done = os.preadv(self._file, [buffer], self._position)
        except OSError as error:
            raise unreadable(self.uri, error) from error
        self._position += done
        return done

    def finish(self) -> None:
        """Neither longer now nor written to."""
        now = os.fstat(self._file)
        if (now.st_size, now.st_mtime_ns) != (self._status.st_size, self._status.st_mtime_ns):
            raise changed(self.uri)


class RemoteBody:
    """The object that a stream has just come to."""

    def __init__(self, stream: "ObjectStream", item: S3Object, outlet: Outlet) -> None:
        """Have its first bytes, so that what frames it goes out together with them."""
        if item.size is None:
            raise TypeError(item.uri)
        self.uri = item.uri
        self.size = item.size
        self._stream = stream
        self._outlet = outlet
        self._piece = stream.read()

    def send(self, outlet: Outlet, count: int) -> None:
        """Piece by piece, as they came."""
        while count:
            piece = self._next()
            if not piece:
                raise changed(self.uri)
            part = piece[:count]
            outlet.write(part)
            self._piece = piece[len(part) :]
            count -= len(part)

    def readinto(self, buffer: memoryview) -> int:
        """Read on from where it is."""
        piece = self._next()
        count = min(len(piece), len(buffer))
        buffer[:count] = piece[:count]
        self._piece = piece[count:]
        return count

    def finish(self) -> None:
        """Nothing more came than was promised; that it was the very same object is S3's own promise."""
        if self._next():
            raise changed(self.uri)

    def _next(self) -> memoryview:
        if not self._piece:
            self._outlet.flush()  # reading may take time, and the reader may wait for just these bytes
            self._piece = self._stream.read()
        return self._piece


class Pieces:
    """Bytes that are in memory, or come there one piece at a time."""

    def __init__(self, uri: str, pieces: Iterable[bytes]) -> None:
        """Take pieces of any length but none."""
        self._uri = uri
        self._pieces = iter(pieces)
        self._rest = memoryview(b"")

    def send(self, outlet: Outlet, count: int) -> None:
        """Piece by piece."""
        while count:
            if not self._rest:
                self._rest = memoryview(self._next())
            if not self._rest:
                raise changed(self._uri)
            part = self._rest[:count]
            outlet.write(part)
            self._rest = self._rest[len(part) :]
            count -= len(part)

    def finish(self) -> None:
        """Nothing may be left."""
        if self._rest or self._next():
            raise changed(self._uri)

    def _next(self) -> bytes:
        return next(self._pieces, b"")
