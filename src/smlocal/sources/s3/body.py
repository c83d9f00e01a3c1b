"""What is sent to S3: bytes that can be read again from the start, for a sum and for every attempt."""

import os
from collections.abc import Callable, Iterator
from typing import Protocol

from smlocal.sources.s3.interface import S3Error

_PIECE = 1 << 20


class Body(Protocol):
    """The body of one request."""

    @property
    def size(self) -> int:
        """How many bytes it has."""
        ...

    def pieces(self) -> Iterator[memoryview]:
        """All of them, from the start; a piece is valid until the next is asked for."""
        ...


class Text:
    """A document, or nothing at all."""

    def __init__(self, data: bytes = b"") -> None:
        """These bytes."""
        self._data = data

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return len(self._data)

    def pieces(self) -> Iterator[memoryview]:
        """One piece."""
        yield memoryview(self._data)


class FilePart:
    """A stretch of an open file: memory holds one piece, however large the stretch is."""

    def __init__(self, descriptor: int, start: int, size: int, *, uri: str) -> None:
        """The descriptor stays the caller's; `uri` is what an error is about."""
        self._descriptor, self._start, self._size = descriptor, start, size
        self._uri = uri

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return self._size

    def pieces(self) -> Iterator[memoryview]:
        """Read it piece by piece."""
        buffer = memoryview(bytearray(min(_PIECE, self._size)))
        done = 0
        while done < self._size:
            try:
                count = os.preadv(self._descriptor, [buffer[: self._size - done]], self._start + done)
            except OSError as error:
                raise self._unreadable(str(error.strerror)) from error
            if not count:
                raise self._unreadable("it has become shorter")
            yield buffer[:count]
            done += count

    def _unreadable(self, why: str) -> S3Error:
        words = f"The file cannot be read while it is uploaded: {why}"
        return S3Error("IncompleteBody", words, status=400, uri=self._uri, operation="PutObject")


def sha256_of(body: Body) -> str:
    """What signs a body that travels in the clear."""
    import hashlib

    made = hashlib.sha256()
    _feed(body, made.update)
    return made.hexdigest()


def crc32_of(body: Body) -> str:
    """The sum that S3 compares the bytes with, in its own spelling."""
    import base64

    from isal.isal_zlib import crc32

    value = 0

    def add(piece: memoryview) -> None:
        nonlocal value
        value = crc32(piece, value)

    _feed(body, add)
    return base64.b64encode(value.to_bytes(4, "big")).decode()


def _feed(body: Body, update: Callable[[memoryview], None]) -> None:
    for piece in body.pieces():
        update(piece)
