"""Connections to the supervisors of endpoints, kept open, and the answers that come over them.

They are made to the socket in the folder of a job: no other program can be there.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from functools import partial
from typing import Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.base.unix_sockets import connect_to
from smlocal.base.web import Body, MessageError, MessageHead, take_head
from smlocal.endpoint.large_requests import in_thread

_PIECE: Final = 65_536
_MOST_IDLE: Final = 256
_CONNECT_SECONDS: Final = 5.0


class BrokenOffError(Exception):
    """An answer ends too early. Its beginning may have been passed on."""


@dataclass(kw_only=True, slots=True)
class _Connection:
    """One to the supervisor of an endpoint."""

    path: str
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    used: bool = False


@dataclass(kw_only=True, slots=True)
class EndpointAnswer:
    """An answer whose body is still to come."""

    head: MessageHead
    _body: Body
    _begun: bytes
    """What came of the body with the head."""
    _connection: _Connection
    _pool: "Connections"

    @property
    def status(self) -> int:
        """The status code."""
        return int(self.head.first[1])

    @property
    def headers(self) -> Mapping[str, str]:
        """By the name in small letters."""
        return self.head.headers

    @property
    def length(self) -> int | None:
        """Bytes of the body; None if it comes in chunks."""
        return self._body.length

    async def read(self) -> bytes:
        """The whole body."""
        return b"".join([piece async for piece in self.pieces()])

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body as it comes."""
        body, data = self._body, self._begun
        reusable = False
        try:
            while True:
                content, data = body.take(data)
                if content:
                    yield content
                if body.ended:
                    reusable = not data
                    return
                data = await self._connection.reader.read(_PIECE)
                if not data:
                    body.end()
        except (OSError, MessageError) as error:
            raise BrokenOffError(str(error)) from error
        finally:
            if reusable:
                self._pool.keep(self._connection)
            else:
                self._connection.writer.close()


@dataclass(kw_only=True, slots=True)
class Connections:
    """Those that carry no request. Used by the tasks of one loop."""

    _idle: dict[str, list[_Connection]] = field(default_factory=dict)

    async def ask(self, path: str, request: Sequence[bytes | memoryview], *, seconds: float) -> EndpointAnswer:
        """The head of the answer. `OSError` if nothing listens at this socket, or it does not answer in time."""
        async with asyncio.timeout(seconds):
            while True:
                connection = self._kept(path) or await _connected(path)
                try:
                    for piece in request:
                        await _send(connection.writer, piece)
                    return await self._answer(connection)
                except BaseException as error:
                    connection.writer.close()
                    # One that was kept may have been closed meanwhile: nobody has read the request.
                    if not (connection.used and isinstance(error, ConnectionError)):
                        raise

    def keep(self, connection: _Connection) -> None:
        """It can be used again."""
        idle = self._idle.setdefault(connection.path, [])
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

    def _kept(self, path: str) -> _Connection | None:
        idle = self._idle.get(path, [])
        while idle:
            connection = idle.pop()
            if not connection.reader.at_eof():
                return connection
            connection.writer.close()
        return None

    async def _answer(self, connection: _Connection) -> EndpointAnswer:
        data = b""
        try:
            while True:
                head, data = take_head(data)
                if head is not None:
                    body = Body(head, to_the_end=True)
                    return EndpointAnswer(head=head, _body=body, _begun=data, _connection=connection, _pool=self)
                piece = await connection.reader.read(_PIECE)
                if not piece:
                    raise ConnectionResetError("the connection ends without an answer")
                data += piece
        except MessageError as error:
            raise OSError(str(error)) from error


async def _connected(path: str) -> _Connection:
    made = await in_thread(partial(connect_to, path, seconds=_CONNECT_SECONDS))
    made.setblocking(False)
    reader, writer = await asyncio.open_unix_connection(sock=made)
    return _Connection(path=path, reader=reader, writer=writer)


async def _send(writer: asyncio.StreamWriter, data: bytes | memoryview) -> None:
    """In pieces: what cannot be sent now is copied."""
    for at in range(0, len(data), _PIECE):
        writer.write(data[at : at + _PIECE])
        await writer.drain()
