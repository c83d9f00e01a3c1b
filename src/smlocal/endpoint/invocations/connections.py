"""Connections to the addresses of endpoints on this machine, kept open, and the answers that come over them."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import field
from typing import Final

from smlocal.base.quick_dataclass import dataclass

_MOST_HEAD: Final = 65_536
_PIECE: Final = 65_536
_MOST_IDLE: Final = 256
_CONNECT_SECONDS: Final = 5.0
_LOOPBACK: Final = "127.0.0.1"
_BROKEN: Final = (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError)


class BrokenOffError(Exception):
    """An answer ends too early. Its beginning may have been passed on."""


@dataclass(kw_only=True, slots=True)
class _Connection:
    """One to the address of an endpoint."""

    port: int
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    used: bool = False


@dataclass(kw_only=True, slots=True)
class EndpointAnswer:
    """An answer whose body is still to come."""

    status: int
    headers: Mapping[str, str]
    """By the name in small letters."""
    _connection: _Connection
    _pool: "Connections"

    @property
    def length(self) -> int | None:
        """Bytes of the body; None if it comes in chunks."""
        stated = self.headers.get("content-length")
        return None if stated is None else int(stated)

    async def read(self) -> bytes:
        """The whole body."""
        return b"".join([piece async for piece in self.pieces()])

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body as it comes."""
        whole = False
        try:
            chunks = _chunks(self._connection.reader) if self.length is None else _counted(self)
            async for piece in chunks:
                yield piece
            whole = True
        except _BROKEN as error:
            raise BrokenOffError(str(error)) from error
        finally:
            if whole:
                self._pool.keep(self._connection)
            else:
                self._connection.writer.close()

    def reader(self) -> asyncio.StreamReader:
        """Where the body comes from."""
        return self._connection.reader


@dataclass(kw_only=True, slots=True)
class Connections:
    """Those that carry no request. Used by the tasks of one loop."""

    _idle: dict[int, list[_Connection]] = field(default_factory=dict)

    async def ask(self, port: int, request: bytes, *, seconds: float) -> EndpointAnswer:
        """The head of the answer; `OSError` if nothing listens there, or it does not answer in time."""
        async with asyncio.timeout(seconds):
            while True:
                connection = self._kept(port) or await _connected(port)
                try:
                    connection.writer.write(request)
                    await connection.writer.drain()
                    return await self._answer(connection)
                except BaseException as error:
                    connection.writer.close()
                    # One that was kept may have been closed meanwhile: nobody has read the request.
                    if not (connection.used and isinstance(error, ConnectionError | asyncio.IncompleteReadError)):
                        if isinstance(error, _BROKEN):
                            raise ConnectionResetError(str(error)) from error
                        raise

    def keep(self, connection: _Connection) -> None:
        """It can be used again."""
        idle = self._idle.setdefault(connection.port, [])
        if len(idle) < _MOST_IDLE:
            connection.used = True
            idle.append(connection)
        else:
            connection.writer.close()

    def close(self) -> None:
        """Close those that carry no request."""
        for each in self._idle.values():
            for connection in each:
                with suppress(RuntimeError):  # the loop has ended
                    connection.writer.close()
        self._idle.clear()

    def _kept(self, port: int) -> _Connection | None:
        idle = self._idle.get(port, [])
        while idle:
            connection = idle.pop()
            if not connection.reader.at_eof():
                return connection
            connection.writer.close()
        return None

    async def _answer(self, connection: _Connection) -> EndpointAnswer:
        raw = await connection.reader.readuntil(b"\r\n\r\n")
        first, *lines = raw[:-4].decode("latin-1").split("\r\n")
        headers = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        return EndpointAnswer(status=int(first.split(" ")[1]), headers=headers, _connection=connection, _pool=self)


async def _connected(port: int) -> _Connection:
    async with asyncio.timeout(_CONNECT_SECONDS):
        reader, writer = await asyncio.open_connection(_LOOPBACK, port, limit=_MOST_HEAD)
    return _Connection(port=port, reader=reader, writer=writer)


async def _counted(answer: EndpointAnswer) -> AsyncIterator[bytes]:
    left, reader = answer.length or 0, answer.reader()
    while left:
        piece = await reader.read(min(left, _PIECE))
        if not piece:
            raise ConnectionResetError(f"{left} bytes are missing")
        left -= len(piece)
        yield piece


async def _chunks(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while left := int(await reader.readuntil(b"\r\n"), 16):
        while left:
            piece = await reader.read(min(left, _PIECE))
            if not piece:
                raise ConnectionResetError("the answer ends in a chunk")
            left -= len(piece)
            yield piece
        await reader.readexactly(2)
    await reader.readuntil(b"\r\n")
