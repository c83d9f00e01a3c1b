"""Bytes that come in pieces, taken in whatever portions a reader wants, and why an archive is not read.

Nothing is kept that was taken. The texts of errors are clauses that go on from 'the archive cannot be read: '.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any

_GZIP = 31
"""The largest window, with the header and the checksum of gzip."""
_MOST_INFLATED = 1 << 20
_PORTION = 64 << 10
"""The number of compressed bytes read at once. The rest of a portion is copied for each part that ends in it."""
_FREE_PARTS, _BYTES_OF_PART = 10_000, 512
"""So many parts (gzip members) may be empty. Others have a block: some builders compress each file separately."""
_PIECE = 256 << 10
_MAGIC, _LEAST_GZIP, _SIZE_SAID = b"\x1f\x8b", 18, 4
"""How a gzip file begins, and the bytes of an empty one, and of the size at its end."""
_MOST_RATIO = 1032
"""Deflate cannot compress better."""


class ByteStream:
    """Pieces, end to end."""

    __slots__ = ("_at", "_piece", "_pieces")

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._piece = b""
        self._at = 0

    def read(self, size: int) -> bytes:
        """Exactly this many bytes, or fewer at the end."""
        end = self._at + size
        if end <= len(self._piece):
            taken = self._piece[self._at : end]
            self._at = end
            return taken
        return b"".join(self.take(size))

    def exactly(self, size: int) -> bytes:
        """Exactly this number of bytes."""
        taken = self.read(size)
        if len(taken) < size:
            raise CutShortError
        return taken

    def skip(self, size: int) -> None:
        """Pass over this many bytes."""
        end = self._at + size
        if end <= len(self._piece):
            self._at = end
            return
        size = end - len(self._piece)
        for piece in self._pieces:
            if size <= len(piece):
                self._piece, self._at = piece, size
                return
            size -= len(piece)
        self._piece, self._at = b"", 0
        raise CutShortError

    def take(self, size: int) -> Iterator[bytes]:
        """So many bytes as they come, or fewer at the end."""
        while size > 0:
            if self._at >= len(self._piece):
                self._piece, self._at = next(self._pieces, b""), 0
                if not self._piece:
                    return
            end = self._at + size
            piece = self._piece[self._at : end] if self._at or end < len(self._piece) else self._piece
            self._at += len(piece)
            size -= len(piece)
            yield piece


def inflated(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The content of gzip data, one part after another, never much of it at once.

    Zeros after the last part are ignored, as other readers do. `CutShortError` if it is damaged or ends early.
    """
    from isal import isal_zlib  # most engines have their layers uncompressed

    from smlocal.base.gzip_errors import ISAL_ERROR

    engine: Any = None
    parts = given = 0
    for rest in _portions(pieces):
        while rest:
            if engine is None:
                if parts and not (rest := rest.lstrip(b"\0")):
                    break
                parts += 1
                if parts > _FREE_PARTS + given // _BYTES_OF_PART:
                    raise BeyondLimitError("it is compressed in too many empty parts")
                engine = isal_zlib.decompressobj(_GZIP)
            try:
                content = engine.decompress(rest, _MOST_INFLATED)
            except ISAL_ERROR as error:
                raise CutShortError("it is not complete gzip data") from error
            if content:
                given += len(content)
                yield content
            rest = engine.unconsumed_tail  # noqa: PLW2901 - the rest of it
            if engine.eof:
                rest, engine = engine.unused_data, None  # noqa: PLW2901
    if engine is not None or not parts:
        raise CutShortError("it is not complete gzip data")


def _portions(pieces: Iterable[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        for at in range(0, len(piece), _PORTION):
            yield piece[at : at + _PORTION]


@contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """A regular file, for reading; `ArchiveError` for everything else, such as a FIFO without a writer."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ArchiveError("it is not a regular file")
        yield file


def least_unpacked(path: str) -> int:
    """The bytes that the content of an archive has at least; 0 if that is not known.

    A gzip file ends with the size of its last part, modulo 4 GiB.
    """
    with opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        if file.read(len(_MAGIC)) != _MAGIC or size < _LEAST_GZIP:
            return 0
        file.seek(-_SIZE_SAID, os.SEEK_END)
        said = int.from_bytes(file.read(_SIZE_SAID), "little")
    return said if said <= size * _MOST_RATIO else 0


def pieces_of(file: IO[bytes]) -> Iterator[bytes]:
    """A file from where it stands to its end."""
    while piece := file.read(_PIECE):
        yield piece


class ArchiveError(Exception):
    """The archive is not read any further; the text says why."""


class NoTarError(ArchiveError):
    """The file is not a tar archive, or it is damaged."""

    def __init__(self, why: str = "it is not a tar archive, or it is damaged") -> None:
        super().__init__(why)


class CutShortError(ArchiveError):
    """The bytes end before they should, or the gzip data is damaged."""

    def __init__(self, why: str = "it ends too early") -> None:
        super().__init__(why)


class BeyondLimitError(ArchiveError):
    """It may be an archive, but it has more of something than is read."""


class RefusedMemberError(ArchiveError):
    """One member is not unpacked, and so none is."""
