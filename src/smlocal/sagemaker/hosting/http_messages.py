"""HTTP/1.1 messages on asyncio's streams, as far as a front of a container needs them."""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from smlocal.base.quick_dataclass import dataclass

MOST_HEAD: Final = 65_536
"""Bytes of a head."""
_PIECE: Final = 65_536
_MOST_LINE: Final = 4096


class MessageError(Exception):
    """The bytes are not an HTTP message, or it ends too early."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MessageHead:
    """The first line of a message, and its headers."""

    first: tuple[str, str, str]
    headers: dict[str, str]
    """By the name in small letters; of a header that comes several times, the last one."""

    @property
    def length(self) -> int | None:
        """Bytes of the body; None if they are not stated."""
        stated = self.headers.get("content-length")
        if stated is None:
            return None
        if not stated.isdecimal():
            raise MessageError("Content-Length is not a number")
        return int(stated)

    @property
    def chunked(self) -> bool:
        """True if the body comes in chunks that say how long they are."""
        return self.headers.get("transfer-encoding", "").lower().endswith("chunked")

    def keeps_open(self, version: str) -> bool:
        """True if the connection can be used again."""
        said = self.headers.get("connection", "").lower()
        return "close" not in said and (version == "HTTP/1.1" or "keep-alive" in said)


async def read_head(reader: asyncio.StreamReader) -> MessageHead | None:
    """The next head; None if the connection has ended before one."""
    try:
        raw = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise MessageError("it ends in its head") from error
        return None
    except asyncio.LimitOverrunError as error:
        raise MessageError(f"its head has more than {MOST_HEAD} bytes") from error
    text = raw[:-4].decode("latin-1")
    first, *lines = text.split("\r\n")
    if not len(lines) == text.count("\n") == text.count("\r") or "\0" in text:
        raise MessageError("it has a line that is not a header")
    words = first.split(" ", 2)
    if len(words) < 2:  # noqa: PLR2004 - a status line may have no phrase
        raise MessageError("its first line is not HTTP")
    headers = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name or name[0] in " \t" or name[-1] in " \t":
            raise MessageError("it has a line that is not a header")
        headers[name.lower()] = value.strip()
    return MessageHead(first=(words[0], words[1], words[2] if len(words) > 2 else ""), headers=headers)  # noqa: PLR2004


async def body_pieces(reader: asyncio.StreamReader, head: MessageHead, *, to_the_end: bool) -> AsyncIterator[bytes]:
    """The body as it comes. `to_the_end`: without a stated length it lasts until the connection ends."""
    if head.chunked:
        async for piece in _chunks(reader):
            yield piece
        return
    left = head.length
    if left is None:
        while to_the_end and (piece := await reader.read(_PIECE)):
            yield piece
        return
    while left:
        piece = await reader.read(min(left, _PIECE))
        if not piece:
            raise MessageError(f"its body ends {left} bytes too early")
        left -= len(piece)
        yield piece


async def _chunks(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while True:
        line = await _line(reader)
        size = line.partition(b";")[0].strip()
        try:
            left = int(size, 16)
        except ValueError as error:
            raise MessageError("a chunk does not state its length") from error
        if left < 0:
            raise MessageError("a chunk does not state its length")
        if not left:
            while await _line(reader):
                pass
            return
        while left:
            piece = await reader.read(min(left, _PIECE))
            if not piece:
                raise MessageError("its body ends in a chunk")
            left -= len(piece)
            yield piece
        if await _line(reader):
            raise MessageError("a chunk is longer than it states")


async def _line(reader: asyncio.StreamReader) -> bytes:
    try:
        line = await reader.readuntil(b"\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        raise MessageError("its body ends too early") from error
    if len(line) > _MOST_LINE:
        raise MessageError("it has a line that is too long")
    return line[:-2]
