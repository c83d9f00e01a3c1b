"""One invocation and its containers: sent, answered, passed on as it comes."""

import asyncio
import select
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, Protocol, cast

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobs.planning.aspects.serving.plan import ServingPlan
from smlocal.sagemaker.hosting import facts
from smlocal.sagemaker.hosting.http_messages import Body, MessageError, MessageHead, take_head
from smlocal.sagemaker.hosting.route import Address, AnswerError, Route
from smlocal.sagemaker.hosting.service_answers import Identity, answer_head, container_request, model_error

CONNECT_SECONDS: Final = 5.0
_REST: Final = 1.0
"""Seconds. Servers close connections that were not used for so long or longer, without a word."""
_WHOLE: Final = 1 << 20
"""Bytes of an answer that are kept until it is complete, so that one that is cut short becomes an error."""
_MOST_MESSAGE: Final = 4096
"""Bytes of a container's error that are passed on."""
_NO_CONTENT: Final = 204
_ERROR, _KEPT, _STREAMED = range(3)
"""What is done with an answer: it becomes an error, it is kept until it is whole, or passed on piece by piece."""


class Asker(Protocol):
    """The client whose request it is."""

    takes_chunks: bool
    """False if it knows only HTTP/1.0."""

    def write(self, data: bytes) -> None:
        """Send a part of the answer."""

    def answered(self, *, last: bool = False) -> None:
        """All of the answer was written. `last`: only the end of the connection says so."""

    def failed(self, error: AnswerError) -> None:
        """There is this answer instead; nothing was written."""

    def broken(self) -> None:
        """The answer was cut short."""


class ContainerConnection(asyncio.Protocol):
    """One to a container, which carries one request at a time."""

    __slots__ = ("_arrived", "_pool", "address", "exchange", "free_since", "rested", "transport")

    def __init__(self, pool: "Pool", address: Address) -> None:
        """Not connected yet."""
        self._pool, self.address = pool, address
        self.exchange: Exchange | None = None
        self.free_since: float | None = None
        """When its last answer ended, by the clock of the loop; None if it has carried none."""
        self.rested = False
        """True if the container may have closed it because it was not used for a while."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember it."""
        self.transport = cast("asyncio.Transport", transport)
        self._arrived = select.poll()
        self._arrived.register(transport.get_extra_info("socket").fileno(), select.POLLIN)

    @property
    def usable(self) -> bool:
        """False if the container has closed it, or says something that nobody asked for."""
        return not self.transport.is_closing() and not self._arrived.poll(0)

    def data_received(self, data: bytes) -> None:
        """A part of an answer."""
        if self.exchange is None:
            self.close()
        else:
            self.exchange.received(data)

    def eof_received(self) -> None:
        """The container sends no more."""
        if self.exchange is not None:
            self.exchange.ended(None)

    def connection_lost(self, error: Exception | None) -> None:
        """It cannot be used any more."""
        self._pool.discard(self)
        if self.exchange is not None:
            self.exchange.ended(error)

    def close(self) -> None:
        """Use it no more."""
        self._pool.discard(self)
        self.exchange = None
        self.transport.abort()


@dataclass(kw_only=True, slots=True)
class Pool:
    """Connections to containers that wait for a request."""

    _free: dict[Address, list[ContainerConnection]] = field(default_factory=dict)

    def take(self, address: Address) -> ContainerConnection | None:
        """One that is open; None if there is none."""
        free = self._free.get(address)
        while free:
            found = free.pop()
            if found.usable:
                now = asyncio.get_running_loop().time()
                found.rested = found.free_since is not None and now - found.free_since >= _REST
                return found
            found.close()
        return None

    def put(self, connection: ContainerConnection) -> None:
        """It has carried an answer to its end."""
        connection.free_since = asyncio.get_running_loop().time()
        self._free.setdefault(connection.address, []).append(connection)

    def discard(self, connection: ContainerConnection) -> None:
        """It has ended."""
        free = self._free.get(connection.address)
        if free and connection in free:
            free.remove(connection)

    def forget(self) -> None:
        """Close all: their containers may be others now."""
        free, self._free = self._free, {}
        for each in [each for found in free.values() for each in found]:
            each.close()


@dataclass(kw_only=True, slots=True, eq=False)
class Exchange:
    """One invocation on its way through the containers of its route."""

    asker: Asker
    pool: Pool
    limits: ServingPlan
    identity: Identity
    route: Route
    headers: Mapping[str, str]
    """Those that are passed on."""
    _step: int = 0
    _request: bytes = b""
    _connection: ContainerConnection | None = None
    _connecting: "asyncio.Task[None] | None" = None
    _timer: asyncio.TimerHandle | None = None
    _before: bytes = b""
    """The beginning of a head."""
    _head: MessageHead | None = None
    _body: Any = None
    _mode: int = _KEPT
    _status: int = 0
    _pieces: list[bytes] = field(default_factory=list)
    _size: int = 0
    _over: bool = False

    def begin(self, body: bytes) -> None:
        """Send the request to the first container."""
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self.limits.invocation, self._late)
        self._ask(self.headers, body)

    def received(self, data: bytes) -> None:
        """The container has answered with these bytes, or with more of them."""
        try:
            self._take(data)
        except MessageError as error:
            self._cut_short(str(error))

    def ended(self, error: Exception | None) -> None:
        """The container has closed the connection."""
        connection = self._connection
        if self._over or connection is None:
            return
        if self._body is not None:
            try:
                self._body.end()
            except MessageError:
                self._cut_short("the container's answer ends too early")
            else:
                self._answered(reusable=False)
        elif connection.rested and not self._before:
            connection.close()
            self._connect()
        elif self._before:
            self._cut_short("it ends in its head")
        else:
            self._cut_short(str(error or "the container closed the connection without an answer"))

    def hold(self, *, held: bool) -> None:
        """The client does not keep up, or does so again."""
        if self._connection is not None and self._mode == _STREAMED:
            transport = self._connection.transport
            (transport.pause_reading if held else transport.resume_reading)()

    def abandon(self, *, at_once: bool = False) -> None:
        """The client is gone. A container that has begun to answer at length is not listened to any more."""
        if not self._over and (at_once or self._mode == _STREAMED):
            self._end()

    def _ask(self, headers: Mapping[str, str], body: bytes) -> None:
        if self._step + 1 < len(self.route.steps):  # it is about the answer to the client
            headers = {name: value for name, value in headers.items() if name != "accept"}
        self._request = container_request(headers, body)
        found = self.pool.take(self.route.steps[self._step].address)
        if found is None:
            self._connect()
        else:
            self._send(found)

    def _connect(self) -> None:
        self._connecting = asyncio.get_running_loop().create_task(self._connected())

    async def _connected(self) -> None:
        address = self.route.steps[self._step].address
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                _, connection = await asyncio.get_running_loop().create_connection(
                    lambda: ContainerConnection(self.pool, address), *address
                )
        except OSError as error:
            self._cut_short(str(error) or "no connection to the container is possible")
        else:
            self._send(connection)
        finally:
            self._connecting = None

    def _send(self, connection: ContainerConnection) -> None:
        self._connection, connection.exchange = connection, self
        self._before, self._head, self._body = b"", None, None
        connection.transport.write(self._request)

    def _take(self, data: bytes) -> None:
        if self._body is None:
            head, data = take_head(self._before + data)
            while head is not None and head.first[1] == "100":
                head, data = take_head(data)
            if head is None:
                self._before = data
                return
            self._before = b""
            self._headed(head)
        content, rest = self._body.take(data)
        if content:
            self._came(content)
        if self._body.ended and not self._over:
            self._answered(reusable=not rest)

    def _headed(self, head: MessageHead) -> None:
        """The head of an answer has come."""
        protocol, status, _ = head.first
        if not protocol.startswith("HTTP/") or not (status.isdecimal() and len(status) == 3):  # noqa: PLR2004 - HTTP
            raise MessageError("the container's answer is not HTTP")
        self._head, self._status = head, int(status)
        body = Body(head, to_the_end=True, empty=self._status == _NO_CONTENT)
        self._body, self._pieces, self._size = body, [], 0
        if not 200 <= self._status < 300:  # noqa: PLR2004 - HTTP
            self._mode = _ERROR
        elif self._step + 1 < len(self.route.steps) or (body.length is not None and body.length <= _WHOLE):
            self._mode = _KEPT
        else:
            self._mode = _STREAMED
            framing = "Transfer-Encoding: chunked" if body.length is None else f"Content-Length: {body.length}"
            if body.length is None and not self.asker.takes_chunks:
                framing = "Connection: close"
            self.asker.write(answer_head(self.route.variant, head.headers, framing))

    def _came(self, content: bytes) -> None:
        """A part of the content of an answer has come."""
        if self._mode == _STREAMED:
            framed = self._body.length is None and self.asker.takes_chunks
            self.asker.write(b"%x\r\n%b\r\n" % (len(content), content) if framed else content)
            return
        self._pieces.append(content)
        self._size += len(content)
        if self._mode == _ERROR and self._size >= _MOST_MESSAGE:
            self._answered(reusable=False)
        elif self._mode == _KEPT and self._size > max(_WHOLE, self.limits.most_body):
            raise MessageError(f"the answer of a container is too large for the next one: {self._size} bytes")

    def _answered(self, *, reusable: bool) -> None:
        """An answer is complete, or as much of it as is wanted."""
        head, body, asker = cast("MessageHead", self._head), self._body, self.asker
        content = b"".join(self._pieces)
        if self._mode == _ERROR:
            message = content[:_MOST_MESSAGE].decode("utf-8", "replace")
            self._fail(self._model_error(self._status, message))
            return
        reusable = reusable and head.keeps_open(head.first[0]) and (body.chunked or body.length is not None)
        self._let_go(reusable=reusable)
        if self._step + 1 < len(self.route.steps):
            self._step += 1
            kind = head.headers.get("content-type")
            self._ask({**self.headers, **({} if kind is None else {"content-type": kind})}, content)
            return
        self._end()
        if self._mode == _KEPT:
            framing = f"Content-Length: {len(content)}"
            asker.write(answer_head(self.route.variant, head.headers, framing) + content)
        elif body.length is None and asker.takes_chunks:
            asker.write(b"0\r\n\r\n")
        asker.answered(last=self._mode == _STREAMED and body.length is None and not asker.takes_chunks)

    def _let_go(self, *, reusable: bool) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        connection.exchange = None
        if reusable and not connection.transport.is_closing():
            connection.transport.resume_reading()
            self.pool.put(connection)
        else:
            connection.close()

    def _late(self) -> None:
        if self._mode == _STREAMED:
            self._cut_short("")
        else:
            self._fail(self._model_error(0, facts.timed_out(self._called)))

    def _cut_short(self, why: str) -> None:
        if self._over:
            return
        if self._mode == _STREAMED:
            self._end()
            self.asker.broken()
        elif self._mode == _ERROR:
            self._answered(reusable=False)
        else:
            self._fail(self._model_error(0, why))

    @property
    def _called(self) -> str:
        return self.route.steps[self._step].container

    def _model_error(self, status: int, message: str) -> AnswerError:
        return model_error(self.identity, status=status, message=message, container=self._called)

    def _fail(self, error: AnswerError) -> None:
        if not self._over:
            self._end()
            self.asker.failed(error)

    def _end(self) -> None:
        self._over = True
        self._let_go(reusable=False)
        if self._timer is not None:
            self._timer.cancel()
        if self._connecting is not None and self._connecting is not asyncio.current_task():
            self._connecting.cancel()
