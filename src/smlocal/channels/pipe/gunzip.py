"""Objects that are decompressed on their way."""

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING

from smlocal.channels.pipe.failures import not_gzip

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

    from smlocal.channels.pipe.object_bytes import ObjectBytes

_PIECE = 1 << 20


class _File(io.RawIOBase):
    """A body as the file that the decompressor reads."""

    def __init__(self, body: "ObjectBytes") -> None:
        self._body = body

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        return self._body.readinto(memoryview(buffer).cast("B"))


def decompressed(body: "ObjectBytes") -> Iterator[bytes]:
    """All members of a gzip object, zeros behind the last overlooked as gzip itself does; no byte at all is no byte.

    `FeedError` says that it is no gzip, damaged, or ends early; what came before has been handed out by then.
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
