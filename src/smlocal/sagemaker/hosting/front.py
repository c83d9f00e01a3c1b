"""The address of this machine at which an endpoint is invoked: what the service does between a client and a container.

It runs in a thread of the supervisor. Connections of clients and to the container are kept open. Without requests it
does nothing at all.
"""

import asyncio
import json
import random
import re
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import field
from functools import partial
from threading import Event, Thread
from typing import Any, Final
from uuid import UUID

from smlocal.base.quick_dataclass import dataclass
from smlocal.base.threads import watched_thread
from smlocal.jobs.planning.aspects.serving.plan import ServingPlan
from smlocal.sagemaker.hosting import facts
from smlocal.sagemaker.hosting.http_messages import MOST_HEAD, MessageError, MessageHead, body_pieces, read_head

_PHRASES: Final = {
    200: "OK",
    400: "Bad Request",
    404: "Not Found",
    413: "Request Entity Too Large",
    424: "Failed Dependency",
    503: "Service Unavailable",
}
_NO_CONTENT: Final = 204
_CONNECT_SECONDS: Final = 5.0
_DRAINED: Final = 256 << 20
"""Bytes of a refused request that are read and dropped, so that its client reads the answer."""
_DRAIN_SECONDS: Final = 30.0
_REST: Final = 1.0
"""Seconds. Servers close connections that were not used for so long or longer, without a word."""
_WHOLE: Final = 1 << 20
"""Bytes of an answer that are kept until it is complete, so that one that is cut short becomes an error."""
_MOST_MESSAGE: Final = 4096
"""Bytes of a container's error that are passed on."""
_HEADER: Final = re.compile(r"[\x20-\x7e\t]*")


@dataclass(frozen=True, kw_only=True, slots=True)
class Identity:
    """What the answers name."""

    endpoint: str
    variant: str
    region: str
    account: str


class _AnswerError(Exception):
    """The answer to a request is an error of the service."""

    def __init__(self, status: int, kind: str, document: dict[str, Any]) -> None:
        super().__init__(kind)
        self.status, self.kind, self.document = status, kind, document


class _SilentError(Exception):
    """The container has closed a connection that was kept open, before it answered anything."""


@dataclass(kw_only=True, slots=True)
class _Connection:
    """One to the container."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    free_since: float | None = None
    """When its last answer ended, by the clock of the loop; None if it has carried none."""
    rested: bool = False
    """True if the container may have closed it because it was not used for a while."""


@dataclass(kw_only=True, slots=True)
class Front:
    """Listens, and passes invocations on."""

    identity: Identity
    limits: ServingPlan
    port: int = 0
    """Where it listens; before `start`, where it is wanted: 0 for any."""
    _upstream: tuple[str, int] | None = None
    _idle: list[_Connection] = field(default_factory=list)
    _loop: asyncio.AbstractEventLoop | None = None
    _thread: Thread | None = None
    _listening: Event = field(default_factory=Event)
    _clients: set[asyncio.Task[None]] = field(default_factory=set)
    _over: asyncio.Event | None = None

    @property
    def address(self) -> str:
        """`http://127.0.0.1:41234`."""
        return f"http://127.0.0.1:{self.port}"

    def start(self, died: Any) -> None:
        """Listen. `died` is called with the thread's name and the exception that ends it."""

        def failed(thread: str, error: BaseException) -> None:
            self._listening.set()
            died(thread, error)

        self._thread = watched_thread(lambda: asyncio.run(self._run()), name="endpoint-front", died=failed)
        self._thread.start()
        self._listening.wait()

    def serve_from(self, upstream: tuple[str, int] | None) -> None:
        """Pass requests on to this address of the container; None: there is no container now."""
        if self._loop is not None:
            with suppress(RuntimeError):  # it has ended
                self._loop.call_soon_threadsafe(self._change, upstream)

    def close(self) -> None:
        """Stop listening, and end all connections."""
        if self._loop is None or self._over is None or self._thread is None:
            return
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(_CONNECT_SECONDS)

    def _change(self, upstream: tuple[str, int] | None) -> None:
        self._upstream = upstream
        idle, self._idle = self._idle, []
        for each in idle:
            each.writer.close()

    async def _run(self) -> None:
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        listen = partial(asyncio.start_server, self._accepted, "127.0.0.1", limit=MOST_HEAD, backlog=1024)
        try:
            server = await listen(port=self.port)
        except OSError:  # another program has the port that an earlier supervisor had
            server = await listen(port=0)
        self.port = server.sockets[0].getsockname()[1]
        self._listening.set()
        await self._over.wait()
        server.close()
        self._change(None)
        for task in list(self._clients):
            task.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._clients.add(task)
            task.add_done_callback(self._clients.discard)
        try:
            with suppress(ConnectionError, asyncio.CancelledError):
                while await self._one_request(reader, writer):
                    pass
        finally:
            writer.close()

    async def _one_request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer it; False if the connection is not used any more."""
        try:
            head = await read_head(reader)
            if head is None:
                return False
            try:
                await self._invoke(head, await self._body(reader, writer, head), writer)
            except _AnswerError as error:
                writer.write(_error_answer(error))
                await writer.drain()
                if error.status == 413:  # noqa: PLR2004 - HTTP
                    await self._drop(reader)
                    return False
        except MessageError as error:
            writer.write(_error_answer(_validation(f"the request is not valid HTTP: {error}")))
            await writer.drain()
            return False
        return head.keeps_open(head.first[2])

    async def _body(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: MessageHead) -> bytes:
        length, most = head.length, self.limits.most_body
        if length is not None and length > most:
            raise _too_large(length, most)
        if head.headers.get("expect", "").lower() == "100-continue":
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if length is not None and not head.chunked:
            try:
                return await reader.readexactly(length)
            except asyncio.IncompleteReadError as error:
                raise MessageError("its body ends too early") from error
        pieces, size = [], 0
        async for piece in body_pieces(reader, head, to_the_end=False):
            pieces.append(piece)
            size += len(piece)
            if size > most:
                raise _too_large(size, most)
        return b"".join(pieces)

    async def _drop(self, reader: asyncio.StreamReader) -> None:
        """Read what the client still sends: a connection that is closed before that loses the answer."""
        left = _DRAINED
        with suppress(TimeoutError):
            async with asyncio.timeout(_DRAIN_SECONDS):
                while left > 0 and (piece := await reader.read(MOST_HEAD)):
                    left -= len(piece)

    async def _invoke(self, head: MessageHead, body: bytes, writer: asyncio.StreamWriter) -> None:
        method, target, _ = head.first
        if target.partition("?")[0] != f"/endpoints/{self.identity.endpoint}/invocations":
            raise _AnswerError(404, "UnknownOperationException", {"message": "there is only this endpoint here"})
        if method != "POST":
            raise _validation("an invocation is a POST")
        request = _passed(head, len(body))
        try:
            async with asyncio.timeout(self.limits.invocation):
                await self._exchange(request + body, writer)
        except TimeoutError as error:
            raise self._model_error(0, facts.timed_out()) from error

    async def _exchange(self, request: bytes, writer: asyncio.StreamWriter) -> None:
        try:
            connection = await self._connected()
            try:
                answer = await self._sent(connection, request)
            except _SilentError:
                connection = await self._connected(fresh=True)
                answer = await self._sent(connection, request)
        except (OSError, _SilentError, MessageError) as error:
            raise self._model_error(0, str(error) or "the container closed the connection without an answer") from error
        try:
            reusable = await self._returned(answer, connection, writer)
        except BaseException:
            connection.writer.close()
            raise
        if reusable and self._upstream is not None:
            connection.free_since = asyncio.get_running_loop().time()
            self._idle.append(connection)
        else:
            connection.writer.close()

    async def _connected(self, *, fresh: bool = False) -> _Connection:
        if self._idle and not fresh:
            await asyncio.sleep(0)  # the loop reads what has arrived, perhaps the end of a connection
        while self._idle and not fresh:
            kept = self._idle.pop()
            if not kept.reader.at_eof():
                now = asyncio.get_running_loop().time()
                kept.rested = kept.free_since is not None and now - kept.free_since >= _REST
                return kept
            kept.writer.close()
        if self._upstream is None:
            document = {"Message": "the container is being started again"}
            raise _AnswerError(503, "ServiceUnavailable", document)
        host, port = self._upstream
        async with asyncio.timeout(_CONNECT_SECONDS):
            reader, writer = await asyncio.open_connection(host, port, limit=MOST_HEAD)
        return _Connection(reader=reader, writer=writer)

    async def _sent(self, connection: _Connection, request: bytes) -> MessageHead:
        """The head of the container's answer."""
        try:
            connection.writer.write(request)
            await connection.writer.drain()
            head = await read_head(connection.reader)
            while head is not None and head.first[1] == "100":
                head = await read_head(connection.reader)
        except BaseException as error:
            connection.writer.close()
            if isinstance(error, ConnectionError) and connection.rested:
                raise _SilentError from error
            raise
        if head is None:
            connection.writer.close()
            if connection.rested:
                raise _SilentError
            raise MessageError("the container closed the connection without an answer")
        return head

    async def _returned(self, head: MessageHead, connection: _Connection, writer: asyncio.StreamWriter) -> bool:
        """Pass the answer on; True if the connection to the container can be used again."""
        if not head.first[1].isdecimal():
            raise self._model_error(0, "the container's answer is not HTTP")
        status = int(head.first[1])
        length = 0 if status == _NO_CONTENT else head.length
        pieces = body_pieces(connection.reader, head, to_the_end=True)
        open_still = head.keeps_open(head.first[0]) and (head.chunked or length is not None)
        if not 200 <= status < 300:  # noqa: PLR2004 - HTTP
            message = await self._message(pieces)
            raise self._model_error(status, message)
        lines = [
            "HTTP/1.1 200 OK",
            f"x-amzn-RequestId: {_request_id()}",
            f"{facts.INVOKED_VARIANT}: {self.identity.variant}",
            *(f"{facts.RETURNED[name]}: {value}" for name, value in head.headers.items() if name in facts.RETURNED),
        ]
        if length is not None and (not head.chunked or status == _NO_CONTENT) and length <= _WHOLE:
            try:
                body = await connection.reader.readexactly(length)
            except (asyncio.IncompleteReadError, ConnectionError) as error:
                raise self._model_error(0, "the container's answer ends too early") from error
            writer.write(_head(lines, f"Content-Length: {length}") + body)
            await writer.drain()
            return open_still
        await self._stream(lines, length if not head.chunked else None, pieces, writer)
        return open_still

    async def _stream(
        self, lines: list[str], length: int | None, pieces: AsyncIterator[bytes], writer: asyncio.StreamWriter
    ) -> None:
        """Each piece as it comes. If the answer is cut short, so is this one: its status has been sent."""
        writer.write(_head(lines, "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"))
        try:
            async for piece in pieces:
                writer.write(piece if length is not None else b"%x\r\n%b\r\n" % (len(piece), piece))
                await writer.drain()
        except (MessageError, TimeoutError, OSError, asyncio.CancelledError) as error:
            writer.transport.abort()
            raise ConnectionResetError from error
        if length is None:
            writer.write(b"0\r\n\r\n")
            await writer.drain()

    async def _message(self, pieces: AsyncIterator[bytes]) -> str:
        found = b""
        with suppress(MessageError, OSError):
            async for piece in pieces:
                found += piece
                if len(found) >= _MOST_MESSAGE:
                    break
        return found[:_MOST_MESSAGE].decode("utf-8", "replace")

    def _model_error(self, status: int, message: str) -> _AnswerError:
        about = self.identity
        where = {"region": about.region, "account": about.account}
        document = {
            "ErrorCode": "CLIENT_ERROR_FROM_MODEL" if 400 <= status < 500 else "INTERNAL_FAILURE_FROM_MODEL",  # noqa: PLR2004 - HTTP
            "LogStreamArn": facts.log_stream_arn(about.endpoint, **where),
            "Message": facts.model_error(about.endpoint, status=status, message=message, **where),
            "OriginalMessage": message,
            "OriginalStatusCode": status,
        }
        return _AnswerError(424, "ModelError", document)


def _passed(head: MessageHead, length: int) -> bytes:
    """The head of the request to the container: only headers that the service passes on."""
    lines = ["POST /invocations HTTP/1.1", f"Host: localhost:{facts.PORT}", f"Content-Length: {length}"]
    for name, value in head.headers.items():
        if name not in facts.PASSED:
            continue
        if len(value) > facts.MOST_HEADER or not _HEADER.fullmatch(value):
            raise _validation(f"the header {name} is longer than {facts.MOST_HEADER} characters, or not of ASCII")
        lines.append(f"{name}: {value}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _request_id() -> UUID:
    """Only to tell requests apart: no call to the kernel for each."""
    return UUID(int=random.getrandbits(128), version=4)


def _head(lines: list[str], framing: str) -> bytes:
    return ("\r\n".join([*lines, framing]) + "\r\n\r\n").encode("latin-1")


def _validation(message: str) -> _AnswerError:
    return _AnswerError(400, "ValidationError", {"Message": message})


def _too_large(size: int, most: int) -> _AnswerError:
    return _AnswerError(
        413, "ValidationError", {"Message": f"Request {size} has exceeded the upper limit of {most} bytes."}
    )


def _error_answer(error: _AnswerError) -> bytes:
    body = json.dumps(error.document).encode()
    lines = [
        f"HTTP/1.1 {error.status} {_PHRASES[error.status]}",
        f"x-amzn-RequestId: {_request_id()}",
        f"x-amzn-ErrorType: {error.kind}",
        "Content-Type: application/json",
    ]
    return _head(lines, f"Content-Length: {len(body)}") + body
