"""One invocation and its containers: sent, answered, passed on as it comes."""

import time
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Final, Protocol

from smlocal.base.quick_dataclass import dataclass
from smlocal.base.web import IDLE_SECONDS, SMALL, Body, HeldBytes, MessageError, MessageHead, Share, take_head
from smlocal.jobs.planning.aspects.serving.plan import ServingPlan
from smlocal.sagemaker.hosting.service_answers import Identity, answer_head, container_request, model_error
from smlocal.sagemaker.serving import facts
from smlocal.sagemaker.serving.connections import Connection, Loop, Timer, connecting
from smlocal.sagemaker.serving.route import Address, AnswerError, Route

CONNECT_SECONDS: Final = 5.0
_REST: Final = 1.0
"""Seconds. Servers close connections that were not used for so long or longer, without a word."""
_WHOLE: Final = 1 << 20
"""Answers up to this size are sent when complete, so a cut answer becomes an error.

If there is room: answers larger than `SMALL` share the memory of request bodies.
"""
_MOST_IDLE: Final = 64
"""Connections to one container that wait for a request, at most so long as one of a client may."""
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
        """Give this answer instead; nothing was written before."""

    def broken(self) -> None:
        """The answer was cut short."""

    def has_room(self, size: int) -> bool:
        """True if an answer of so many bytes may be kept until it is whole, and until the client has read it."""


class ContainerConnection(Connection):
    """One to a container, which carries one request at a time."""

    __slots__ = ("_pool", "_timer", "address", "exchange", "free_since", "rested")

    def __init__(self, loop: Loop, pool: "Pool", address: Address) -> None:
        self._pool, self.address = pool, address
        self.exchange: Exchange | None = None
        self.free_since: float | None = None
        """When its last answer ended, by the monotonic clock; None if it has carried none."""
        self.rested = False
        """True if the container may have closed it because it was not used for a while."""
        Connection.__init__(self, loop, connecting(address), connecting=True)
        self._timer = loop.after(CONNECT_SECONDS, self._late)

    def connected(self) -> None:
        """It has been made in time."""
        self._timer.cancel()

    def received(self, data: bytes) -> None:
        """A part of an answer."""
        if self.exchange is None:
            self.drop()
        else:
            self.exchange.received(data)

    def ended(self, error: Exception | None) -> None:
        """It cannot be used any more."""
        exchange = self.exchange
        self.drop()
        if exchange is not None:
            exchange.ended(error)

    def rest(self) -> None:
        """It carries no request from now on, and is not kept so for ever."""
        self.free_since = time.monotonic()
        self._timer = self._loop.after(IDLE_SECONDS, self.drop)

    def cancel_timer(self) -> None:
        """It carries a request again."""
        self._timer.cancel()

    def drop(self) -> None:
        """Use it no more."""
        self._pool.discard(self)
        self._timer.cancel()
        self.exchange = None
        self.close(at_once=True)

    def _late(self) -> None:
        if self._connecting:
            self._lost(TimeoutError("the container does not accept a connection"))


@dataclass(kw_only=True, slots=True)
class Pool:
    """Connections to containers that wait for a request."""

    loop: Loop
    held: HeldBytes
    """The bytes on their way between containers, and those of requests."""
    _free: dict[Address, list[ContainerConnection]] = field(default_factory=dict)

    def take(self, address: Address) -> ContainerConnection:
        """One that is open, or that is being made."""
        free = self._free.get(address)
        while free:
            found = free.pop()
            found.cancel_timer()
            if found.quiet:
                found.rested = found.free_since is not None and time.monotonic() - found.free_since >= _REST
                return found
            found.drop()
        return self.new(address)

    def new(self, address: Address) -> ContainerConnection:
        """One that is being made."""
        return ContainerConnection(self.loop, self, address)

    def put(self, connection: ContainerConnection) -> None:
        """It has carried an answer to its end."""
        free = self._free.setdefault(connection.address, [])
        if len(free) >= _MOST_IDLE:
            connection.drop()
            return
        connection.rest()
        free.append(connection)

    def discard(self, connection: ContainerConnection) -> None:
        """It has ended."""
        free = self._free.get(connection.address)
        if free and connection in free:
            free.remove(connection)

    def forget(self) -> None:
        """Close all: their containers may be others now."""
        free, self._free = self._free, {}
        for each in [each for found in free.values() for each in found]:
            each.drop()


class Exchange:
    """One invocation on its way through the containers of its route."""

    __slots__ = (
        *("_answer", "_asker", "_before", "_body", "_connection", "_headers", "_identity", "_late_data"),
        *("_limits", "_mode", "_over", "_pieces", "_pool", "_request", "_route", "_share", "_size"),
        *("_status", "_step", "_stream_timer", "_streamed", "_timer"),
    )

    def __init__(
        self,
        *,
        asker: Asker,
        pool: Pool,
        limits: ServingPlan,
        identity: Identity,
        route: Route,
        headers: Mapping[str, str],
        streamed: bool = False,
    ) -> None:
        """`headers`: those that are passed on. `streamed`: an answer that has begun has more time."""
        self._asker, self._pool, self._limits, self._identity = asker, pool, limits, identity
        self._route, self._headers, self._streamed = route, headers, streamed
        self._step = 0
        self._request: tuple[bytes | memoryview, ...] = ()
        self._connection: ContainerConnection | None = None
        self._timer: Timer | None = None
        self._stream_timer: Timer | None = None
        """That of the whole answer, if it has more time than its beginning."""
        self._before = b""
        """The beginning of a head."""
        self._answer: MessageHead | None = None
        self._body: Body | None = None
        self._mode = _KEPT
        self._status = 0
        self._pieces: list[bytes] = []
        self._size = 0
        self._over = False
        self._share: Share | None = None
        """For what is sent to a container: its part of the bytes that may be held together."""
        self._late_data = b""
        """What has come of an answer that has no room yet."""

    def begin(self, body: bytes | memoryview, share: Share | None) -> None:
        """Send the request to the first container. Its `share` is given back when the container has it."""
        self._share = share
        loop, limits = self._pool.loop, self._limits
        self._timer = loop.after(limits.invocation, self._late)
        if self._streamed and limits.stream > limits.invocation:
            self._stream_timer = loop.after(limits.stream, self._late)
        self._ask(self._headers, body)

    def received(self, data: bytes) -> None:
        """The container has answered with these bytes, or with more of them."""
        try:
            self._take(data)
        except MessageError as error:
            self._cut_short(str(error))

    def ended(self, error: Exception | None) -> None:
        """The container has closed the connection."""
        connection, self._connection = self._connection, None
        if self._over or connection is None:
            return
        if self._body is not None:
            try:
                self._body.end()
            except MessageError:
                self._cut_short("the container's answer ends too early")
            else:
                self._answered(reusable=False)
        elif self._before:
            self._cut_short("it ends in its head")
        elif connection.rested:
            self._send(self._pool.new, connection.address)
        else:
            self._cut_short(str(error or "the container closed the connection without an answer"))

    def hold(self, *, held: bool) -> None:
        """The client does not keep up, or does so again."""
        if self._connection is not None and self._mode == _STREAMED:
            self._connection.read(on=not held)

    def abandon(self, *, at_once: bool = False) -> None:
        """The client is gone. A container that has begun to answer at length is not listened to any more."""
        if not self._over and (at_once or self._mode == _STREAMED):
            self._end()

    def _ask(self, headers: Mapping[str, str], body: bytes | memoryview) -> None:
        if self._step + 1 < len(self._route.steps):  # it is about the answer to the client
            headers = {name: value for name, value in headers.items() if name != "accept"}
        self._request = container_request(headers, body)
        self._send(self._pool.take, self._route.steps[self._step].address)

    def _send(self, connected: Callable[[Address], ContainerConnection], address: Address) -> None:
        try:
            connection = connected(address)
        except OSError as error:  # no more files can be opened, for one
            message = f"no connection to the container can be made: {error.strerror or error}"
            failure = AnswerError(503, "ServiceUnavailable", {"Message": message})
            self._pool.loop.soon.append(lambda: self._fail(failure))  # the client is not done with the request yet
            return
        self._connection, connection.exchange = connection, self
        self._before, self._answer, self._body = b"", None, None
        for piece in self._request:
            connection.write(piece)

    def _take(self, data: bytes) -> None:
        body = self._body
        if body is None:
            head, data = take_head(self._before + data if self._before else data)
            while head is not None and _is_informal(head.first[1]):
                head, data = take_head(data)
            if head is None:
                self._before = data
                return
            self._before = b""
            body = self._body = self._headed(head)
            if self._share is not None and not self._share.granted:
                self._late_data = data
                connection = self._connection
                if connection is not None:
                    connection.read(on=False)
                return
        content, rest = body.take(data)
        if content:
            self._came(content, framed=body.length is None and self._asker.takes_chunks)
        if body.ended and not self._over:
            self._answered(reusable=not rest)

    def _headed(self, head: MessageHead) -> Body:
        """The head of an answer has come."""
        protocol, status, _ = head.first
        if not protocol.startswith("HTTP/") or not (status.isdecimal() and len(status) == 3):  # noqa: PLR2004 - HTTP
            raise MessageError("the container's answer is not HTTP")
        if self._stream_timer is not None and self._timer is not None and self._step + 1 == len(self._route.steps):
            self._timer.cancel()  # the answer has begun in time
        self._answer, self._status = head, int(status)
        self._forget_request()
        body = Body(head, to_the_end=True, empty=self._status == _NO_CONTENT)
        self._pieces, self._size = [], 0
        if not 200 <= self._status < 300:  # noqa: PLR2004 - HTTP
            self._mode = _ERROR
        elif self._step + 1 < len(self._route.steps):
            self._mode = _KEPT
            self._hold(body)
        elif body.length is not None and body.length <= _WHOLE and self._asker.has_room(body.length):
            self._mode = _KEPT
        else:
            self._mode = _STREAMED
            framing = "Transfer-Encoding: chunked" if body.length is None else f"Content-Length: {body.length}"
            if body.length is None and not self._asker.takes_chunks:
                framing = "Connection: close"
            self._asker.write(answer_head(self._route.variant, head.headers, framing))
        return body

    def _hold(self, body: Body) -> None:
        """Have room for an answer that is the request to the next container, now or later."""
        size = max(_WHOLE, self._limits.most_body) if body.length is None else body.length
        if size > SMALL:
            loop = self._pool.loop
            self._share = self._pool.held.take(size, lambda: loop.soon.append(self._go_on))

    def _go_on(self) -> None:
        """There is room."""
        if not self._over and self._connection is not None:
            self._connection.read(on=True)
            data, self._late_data = self._late_data, b""
            self.received(data)

    def _forget_request(self) -> None:
        """The container has it, unless it answers early: then it is kept until the end."""
        if self._connection is not None and not self._connection.unsent:
            self._request = ()
            self._give_back()

    def _give_back(self) -> None:
        if self._share is not None:
            share, self._share = self._share, None
            share.give_back()

    def _came(self, content: bytes, *, framed: bool) -> None:
        """A part of the content of an answer has come."""
        if self._mode == _STREAMED:
            self._asker.write(b"%x\r\n%b\r\n" % (len(content), content) if framed else content)
            return
        self._pieces.append(content)
        self._size += len(content)
        if self._mode == _ERROR and self._size >= _MOST_MESSAGE:
            self._answered(reusable=False)
        elif self._size > max(_WHOLE, self._limits.most_body):
            raise MessageError(f"the answer of a container is too large for the next one: {self._size} bytes")

    def _answered(self, *, reusable: bool) -> None:
        """An answer is complete, or as much of it as is wanted."""
        head, body, asker = self._answer, self._body, self._asker
        if head is None or body is None:
            raise AssertionError(self._identity.endpoint)  # both have come
        content = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        if self._mode == _ERROR:
            message = content[:_MOST_MESSAGE].decode("utf-8", "replace")
            self._fail(self._model_error(self._status, message))
            return
        self._let_go(reusable=reusable and (body.chunked or body.length is not None) and head.keeps_open(head.first[0]))
        if self._step + 1 < len(self._route.steps):
            self._step += 1
            kind = head.headers.get("content-type")
            self._ask({**self._headers, **({} if kind is None else {"content-type": kind})}, content)
            return
        self._end()
        if self._mode == _KEPT:
            framing = f"Content-Length: {len(content)}"
            asker.write(answer_head(self._route.variant, head.headers, framing) + content)
            asker.answered()
            return
        unframed = body.length is None and not asker.takes_chunks
        if body.length is None and not unframed:
            asker.write(b"0\r\n\r\n")
        asker.answered(last=unframed)

    def _let_go(self, *, reusable: bool) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        connection.exchange = None
        if reusable and not connection.closed:
            connection.read(on=True)
            self._pool.put(connection)
        else:
            connection.drop()

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
            self._asker.broken()
        elif self._mode == _ERROR and self._body is not None:
            self._answered(reusable=False)
        else:
            self._fail(self._model_error(0, why))

    @property
    def _called(self) -> str:
        return self._route.steps[self._step].container

    def _model_error(self, status: int, message: str) -> AnswerError:
        return model_error(self._identity, status=status, message=message, container=self._called)

    def _fail(self, error: AnswerError) -> None:
        if not self._over:
            self._end()
            self._asker.failed(error)

    def _end(self) -> None:
        self._over = True
        self._request, self._pieces = (), []
        self._give_back()
        self._let_go(reusable=False)
        for timer in (self._timer, self._stream_timer):
            if timer is not None:
                timer.cancel()


def _is_informal(status: str) -> bool:
    """True for a status that precedes another one."""
    return len(status) == 3 and status.isdecimal() and status[0] == "1"  # noqa: PLR2004 - HTTP
