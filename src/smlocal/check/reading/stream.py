"""Bytes that come in pieces, taken in whatever portions a reader wants. Nothing is kept that was taken."""

from collections.abc import Iterable, Iterator
from typing import cast

_GZIP = 31
"""The largest window, with the header and the checksum of gzip."""
_MOST_INFLATED = 1 << 20


class CutShortError(Exception):
    """The bytes end before they should."""


class Stream:
    """Pieces, end to end."""

    __slots__ = ("_at", "_piece", "_pieces")

    def __init__(self, pieces: Iterable[bytes]) -> None:
        """Take nothing yet."""
        self._pieces = iter(pieces)
        self._piece = b""
        self._at = 0

    def read(self, size: int) -> bytes:
        """Exactly so many bytes, or fewer at the end."""
        end = self._at + size
        if end <= len(self._piece):
            taken = self._piece[self._at : end]
            self._at = end
            return taken
        return b"".join(self.take(size))

    def exactly(self, size: int) -> bytes:
        """So many bytes and no fewer."""
        taken = self.read(size)
        if len(taken) < size:
            raise CutShortError
        return taken

    def skip(self, size: int) -> None:
        """Pass over so many bytes."""
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
    """What gzip has compressed, one member after another, never much of it at once."""
    from isal import isal_zlib  # most engines have their layers uncompressed

    broken = cast("type[Exception]", isal_zlib.IsalError)  # which its types call an instance
    engine = isal_zlib.decompressobj(_GZIP)
    for piece in pieces:
        rest = piece
        while rest:
            try:
                yield engine.decompress(rest, _MOST_INFLATED)
            except broken as error:
                raise CutShortError from error
            rest = engine.unconsumed_tail
            if engine.eof:
                rest = engine.unused_data
                engine = isal_zlib.decompressobj(_GZIP)
                if not rest.strip(b"\0"):
                    break
