"""The bytes that a Pipe channel sends in one epoch, from a file, from S3 or from memory, and why it fails."""

import io
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from errno import EACCES, ENOENT, ENOTDIR, EPERM
from threading import Lock
from typing import TYPE_CHECKING, Protocol, Self

from isal import igzip

from smlocal.base.files import open_file, regular
from smlocal.base.gzip_errors import GZIP_ERRORS
from smlocal.base.quick_dataclass import dataclass
from smlocal.data.channels.pipe.fifo import FifoWriter, StoppedError
from smlocal.data.sources.s3.error_responses import download_failure
from smlocal.data.sources.s3.interface import ObjectStore, S3Error, S3Object, listed_object
from smlocal.data.sources.s3.object_stream import ObjectStream, StreamClosedError
from smlocal.terms.channels import PipePlan
from smlocal.terms.listing import epoch_order
from smlocal.terms.statuses import input_failure

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


@dataclass(frozen=True, kw_only=True, slots=True)
class LocalObject:
    """A local file that is sent as an object."""

    path: str
    uri: str
    links: bool = True
    """False if no link in the path may be followed."""


Item = LocalObject | S3Object | bytes
"""Bytes are sent unchanged, without decompression."""


class Content(Protocol):
    """Everything that a channel sends."""

    @property
    def remote(self) -> bool:
        """Whether any of it is in S3."""
        ...

    def epoch(self, number: int) -> Callable[[], Iterator[Item]]:
        """A function that yields the items of one epoch in order; it may be called several times."""
        ...

    def close(self) -> None:
        """Close files."""


class Objects:
    """Whole objects, selected by a prefix or a manifest."""

    def __init__(self, plan: PipePlan) -> None:
        self._plan = plan
        self._listing = plan.listing

    @property
    def remote(self) -> bool:
        """Whether the objects are in S3."""
        return self._listing.remote

    def epoch(self, number: int) -> Callable[[], Iterator[Item]]:
        """This host's objects in this epoch's order."""
        plan = self._plan
        order = epoch_order(len(self._listing.paths), seed=plan.seed, epoch=number, shard=plan.shard)
        return lambda: map(self._object, order)

    def close(self) -> None:
        """Nothing is open."""

    def _object(self, index: int) -> Item:
        listing = self._listing
        if listing.remote:
            return listed_object(listing, index)
        return LocalObject(
            path=listing.file(index), uri=f"{listing.bucket_uri}{listing.key(index)}", links=listing.links
        )


# The streams from S3 of one feed: they share its memory, and are stopped together.

_SHARE = 7, 8
_LEAST = 2 << 20


class Streams:
    """Opens streams of objects in S3, which read ahead."""

    def __init__(self, store: Callable[[], ObjectStore], budget: int) -> None:
        """`store` is called at the first use; all streams together read at most `budget` bytes ahead."""
        self._make_store = store
        self._store: ObjectStore | None = None
        self._left = budget
        self._open: set[ObjectStream] = set()
        self._stopped = False
        self._lock = Lock()

    @property
    def store(self) -> ObjectStore:
        """The S3 client, made once."""
        with self._lock:
            if self._store is None:
                self._store = self._make_store()
            return self._store

    @contextmanager
    def open(self, objects: Iterable[S3Object]) -> Iterator["ObjectStream"]:
        """A stream of these objects, closed when the context ends.

        It takes most of the free memory and leaves some: its reader may go on to the next epoch without closing it.
        """
        store = self.store
        with self._lock:
            if self._stopped:
                raise StoppedError
            budget = max(_LEAST, self._left * _SHARE[0] // _SHARE[1])
            self._left -= budget
            stream = ObjectStream(store, objects, budget=budget)
            self._open.add(stream)
        try:
            yield stream
        except StreamClosedError as error:
            raise StoppedError from error
        finally:
            stream.close()
            with self._lock:
                self._open.discard(stream)
                self._left += budget

    def stop(self) -> None:
        """Close all streams; no new one can be opened."""
        with self._lock:
            self._stopped = True
            streams = list(self._open)
        for stream in streams:
            stream.close()


_S3_ERRORS = {
    ENOENT: "NoSuchKey: The specified key does not exist.",
    ENOTDIR: "NoSuchKey: The specified key does not exist.",
    EACCES: "AccessDenied: Access Denied",
    EPERM: "AccessDenied: Access Denied",
}


class FeedError(Exception):
    """The data cannot be sent: `failure` is why the job fails, `explanation` is for the user."""

    def __init__(self, text: str, explanation: str) -> None:
        super().__init__(text)
        self.failure = input_failure(f"Data download failed:{text}")
        self.explanation = explanation


def unreadable(uri: str, error: OSError) -> FeedError:
    """A local file cannot be read."""
    text = _S3_ERRORS.get(error.errno or 0, f"InternalError: {error.strerror}")
    return FeedError(f"Unable to download object {uri} ({text})", str(error))


def of_s3(error: S3Error) -> FeedError:
    """An error of S3."""
    return FeedError(download_failure(error), f"{error.uri}: {error}")


def missing(uri: str, why: str) -> FeedError:
    """An object that cannot exist."""
    return FeedError(f"Unable to download object {uri} ({_S3_ERRORS[ENOENT]})", why)


def changed(uri: str) -> FeedError:
    """An object changed while it was sent."""
    text = "PreconditionFailed: At least one of the pre-conditions you specified did not hold"
    return FeedError(f"Unable to download object {uri} ({text})", f"{uri} changed while it was being read.")


def not_gzip(uri: str, error: Exception) -> FeedError:
    """An object is not gzip data, though the channel says so."""
    return FeedError(f"Failed to decompress object {uri} as Gzip", f"{uri} is not complete gzip data: {error}")


def bad_line(uri: str, number: int, why: str) -> FeedError:
    """A line of an augmented manifest is not valid."""
    return FeedError(
        f"Failed to download data. Augmented manifest {uri} is not valid: line {number} {why}", f"{uri}:{number}: {why}"
    )


def name_taken(path: str) -> FeedError:
    """The container has created something under a FIFO's name."""
    return FeedError(
        f"Failed to create {path}: the name is already taken by something else",
        f"The container created {path}, which is the next epoch's FIFO.",
    )


def no_room(error: OSError) -> FeedError:
    """No disk space for a FIFO or for an augmented manifest."""
    return FeedError("Insufficient disk space", str(error))


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
