"""The address of this machine at which an endpoint is invoked: what the service does between a client and a container.

It runs in a thread of the supervisor. Connections of clients and to the container are kept open. Without requests it
does nothing at all. It is made of protocols of asyncio, not of its streams, which take three times as long.
"""

import asyncio
from contextlib import suppress
from dataclasses import field
from functools import partial
from threading import Event, Thread
from typing import Any, Final, cast

from smlocal.base.quick_dataclass import dataclass
from smlocal.base.threads import watched_thread
from smlocal.jobs.planning.aspects.serving.plan import ServingPlan
from smlocal.sagemaker.hosting.exchange import CONNECT_SECONDS, Exchange, Pool
from smlocal.sagemaker.hosting.http_messages import MOST_HEAD, Body, MessageError, MessageHead, take_head
from smlocal.sagemaker.hosting.route import Address, AnswerError, OneContainer, Routes
from smlocal.sagemaker.hosting.service_answers import (
    TOO_LARGE,
    Identity,
    error_answer,
    passed_headers,
    too_large,
    validation_error,
)

_DRAINED: Final = 256 << 20
"""Bytes of a refused request that are read and dropped, so that its client reads the answer."""
_DRAIN_SECONDS: Final = 30.0


@dataclass(kw_only=True, slots=True)
class Front:
    """Listens, and passes invocations on."""

    identity: Identity
    limits: ServingPlan
    port: int = 0
    """Where it listens; before `start`, where it is wanted: 0 for any."""
    routes: Routes | None = None
    """Asked once for each invocation."""
    pool: Pool = field(default_factory=Pool)
    clients: "set[Client]" = field(default_factory=set)
    _loop: asyncio.AbstractEventLoop | None = None
    _thread: Thread | None = None
    _listening: Event = field(default_factory=Event)
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

    def serve_from(self, upstream: Address | None) -> None:
        """Pass requests on to this address of the only container; None: there is none now."""
        self.routes = OneContainer(variant=self.identity.variant, address=upstream)
        self.forget()

    def forget(self) -> None:
        """Close the connections to containers that carry no request: a container was started again."""
        if self._loop is not None:
            with suppress(RuntimeError):  # it has ended
                self._loop.call_soon_threadsafe(self.pool.forget)

    def close(self) -> None:
        """Stop listening, and end all connections."""
        if self._loop is None or self._over is None or self._thread is None:
            return
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(CONNECT_SECONDS)

    async def _run(self) -> None:
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        listen = partial(self._loop.create_server, lambda: Client(self), "127.0.0.1", backlog=1024)
        try:
            server = await listen(port=self.port)
        except OSError:  # another program has the port that an earlier supervisor had
            server = await listen(port=0)
        self.port = server.sockets[0].getsockname()[1]
        self._listening.set()
        await self._over.wait()
        server.close()
        for each in list(self.clients):
            each.close()
        self.pool.forget()
        await asyncio.sleep(0)  # the loop closes the sockets


class Client(asyncio.Protocol):
    """One connection of a client: takes one request after another."""

    __slots__ = (
        "_at_end",
        "_body",
        "_dropped",
        "_exchange",
        "_front",
        "_head",
        "_keeps_open",
        "_pieces",
        "_size",
        "_transport",
        "_waiting",
        "takes_chunks",
    )

    def __init__(self, front: Front) -> None:
        """Not connected yet."""
        self._front = front
        self._transport: Any = None
        self._exchange: Exchange | None = None
        self._head: MessageHead | None = None
        self._body: Body | None = None
        self._pieces: list[bytes] = []
        self._size = 0
        self._waiting = b""
        """What has arrived and was not taken."""
        self._at_end = False
        """True if the client sends no more."""
        self._dropped = 0
        """How many more bytes of a refused request are read and dropped; 0: there is none."""
        self._keeps_open = True
        self.takes_chunks = True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember it."""
        self._transport = cast("asyncio.Transport", transport)
        self._front.clients.add(self)

    def data_received(self, data: bytes) -> None:
        """A part of a request, or several."""
        if self._dropped:
            self._dropped = max(0, self._dropped - len(data))
            if not self._dropped:
                self._transport.abort()
        elif self._exchange is not None:
            self._waiting += data
            if len(self._waiting) > MOST_HEAD:
                self._transport.pause_reading()
        else:
            self._take(self._waiting + data)

    def eof_received(self) -> bool:
        """The client sends no more; it may wait for an answer."""
        self._at_end = True
        if self._exchange is not None:
            return True
        if (self._waiting or self._head is not None) and not self._dropped:
            self._not_http("it ends too early")
        return False

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002 - whatever ended it
        """The client is gone."""
        self._front.clients.discard(self)
        if self._exchange is not None:
            self._exchange.abandon()

    def pause_writing(self) -> None:
        """The client does not keep up."""
        if self._exchange is not None:
            self._exchange.hold(held=True)

    def resume_writing(self) -> None:
        """The client keeps up again."""
        if self._exchange is not None:
            self._exchange.hold(held=False)

    def close(self) -> None:
        """End it at once."""
        if self._exchange is not None:
            self._exchange.abandon(at_once=True)
        self._transport.abort()

    def write(self, data: bytes) -> None:
        """Send a part of the answer."""
        if not self._transport.is_closing():
            self._transport.write(data)

    def answered(self, *, last: bool = False) -> None:
        """All of the answer was written."""
        self._exchange = None
        if last or not self._keeps_open or (self._at_end and not self._waiting):
            self._transport.close()
        elif not self._transport.is_closing():
            if self._waiting:
                self._transport.resume_reading()
                self._take(self._waiting)

    def failed(self, error: AnswerError) -> None:
        """The service answers with an error."""
        self.write(error_answer(error))
        self.answered()

    def broken(self) -> None:
        """The answer is cut short: so is this one, whose status has been sent."""
        self._exchange = None
        self._transport.abort()

    def _take(self, data: bytes) -> None:
        """Requests, until one is on its way."""
        self._waiting = b""
        try:
            while self._exchange is None and not self._dropped and not self._transport.is_closing():
                if self._head is None:
                    self._head, data = take_head(data)
                    if self._head is None:
                        break
                try:
                    data = self._part(self._head, data)
                    if self._body is not None and not self._body.ended:
                        return
                    self._invoke(self._head)
                except AnswerError as error:
                    self._refused(error)
                finally:
                    if self._body is None or self._body.ended:
                        self._head = self._body = None
                        self._pieces, self._size = [], 0
            self._waiting = data
        except MessageError as error:
            self._not_http(str(error))

    def _part(self, head: MessageHead, data: bytes) -> bytes:
        """Take the body, or a part of it; returns what follows."""
        most = self._front.limits.most_body
        if self._body is None:
            body = Body(head, to_the_end=False)
            if body.length is not None and body.length > most:
                raise too_large(body.length, most)
            self._body = body
            if head.headers.get("expect", "").lower() == "100-continue":
                self.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        content, rest = self._body.take(data)
        if content:
            self._pieces.append(content)
            self._size += len(content)
            if self._size > most:
                self._body = None
                raise too_large(self._size, most)
        return rest

    def _invoke(self, head: MessageHead) -> None:
        """The request is complete."""
        front = self._front
        method, target, version = head.first
        self._keeps_open, self.takes_chunks = head.keeps_open(version), version != "HTTP/1.0"
        if target.partition("?")[0] != f"/endpoints/{front.identity.endpoint}/invocations":
            raise AnswerError(404, "UnknownOperationException", {"message": "there is only this endpoint here"})
        if method != "POST":
            raise validation_error("an invocation is a POST")
        if front.routes is None:
            raise AssertionError(front.identity.endpoint)  # it is given before it listens, or with `serve_from`
        headers = passed_headers(head.headers)
        exchange = Exchange(
            asker=self,
            pool=front.pool,
            limits=front.limits,
            identity=front.identity,
            route=front.routes.route(head.headers),
            headers=headers,
        )
        self._exchange = exchange
        exchange.begin(b"".join(self._pieces))

    def _refused(self, error: AnswerError) -> None:
        self.write(error_answer(error))
        if error.status == TOO_LARGE:  # what the client still sends is read: a connection closed before loses the answer
            self._dropped = _DRAINED
            asyncio.get_running_loop().call_later(_DRAIN_SECONDS, self._transport.abort)
        elif not self._keeps_open:
            self._transport.close()

    def _not_http(self, why: str) -> None:
        self.write(error_answer(validation_error(f"the request is not valid HTTP: {why}")))
        self._transport.close()
