"""Decompresses objects while they are sent."""

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING

from smlocal.channels.pipe.failures import not_gzip

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

    from smlocal.channels.pipe.object_bytes import ObjectBytes

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

    `FeedError` if it is not gzip, is damaged or ends early; what came before was yielded by then.
    """
    import zlib

    from isal import igzip

    with igzip.IGzipFile(fileobj=_File(body), mode="rb") as file:  # type: ignore[no-untyped-call] # published so
        while True:
            try:
                piece = file.read1(_PIECE)
            except (igzip.BadGzipFile, EOFError, zlib.error) as error:
                raise not_gzip(body.uri, error) from error
            if not piece:
                return
            yield piece
