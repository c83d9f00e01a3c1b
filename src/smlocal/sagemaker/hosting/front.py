"""The address of this machine at which an endpoint is invoked: what the service does between a client and a container.

It runs in a thread of the supervisor. Connections of clients and to the container are kept open. Without requests it
does nothing at all.
"""

import socket
from dataclasses import field
from functools import partial
from threading import Event, Thread
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.base.threads import watched_thread
from smlocal.jobs.planning.aspects.serving.plan import ServingPlan
from smlocal.sagemaker.hosting.connections import Connection, Loop, accept_from, allow_many
from smlocal.sagemaker.hosting.exchange import CONNECT_SECONDS, Exchange, Pool
from smlocal.sagemaker.hosting.facts import INVOKED, STREAMED
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
    clients: "set[ClientConnection]" = field(default_factory=set)
    loop: Loop = field(default_factory=Loop)
    pool: Pool = field(init=False)
    _thread: Thread | None = None
    _listening: Event = field(default_factory=Event)

    def __post_init__(self) -> None:
        self.pool = Pool(loop=self.loop)

    @property
    def address(self) -> str:
        """`http://127.0.0.1:41234`."""
        return f"http://127.0.0.1:{self.port}"

    def start(self, died: Any) -> None:
        """Listen. `died` is called with the thread's name and the exception that ends it."""
        allow_many()

        def failed(thread: str, error: BaseException) -> None:
            self._listening.set()
            died(thread, error)

        self._thread = watched_thread(self._run, name="endpoint-front", died=failed)
        self._thread.start()
        self._listening.wait()

    def serve_from(self, upstream: Address | None) -> None:
        """Pass requests on to this address of the only container; None: there is none now."""
        self.routes = OneContainer(self.identity.variant, upstream)
        self.forget()

    def forget(self) -> None:
        """Close the connections to containers that carry no request: a container was started again."""
        self.loop.call(self.pool.forget)

    def close(self) -> None:
        """Stop listening, and end all connections."""
        self.loop.call(self.loop.stop)
        if self._thread is not None:
            self._thread.join(CONNECT_SECONDS)

    def _run(self) -> None:
        listen = partial(socket.create_server, backlog=1024)
        try:
            listener = listen(("127.0.0.1", self.port))
        except OSError:  # another program has the port that an earlier supervisor had
            listener = listen(("127.0.0.1", 0))
        try:
            self.port = listener.getsockname()[1]
            accept_from(self.loop, listener, lambda accepted: ClientConnection(self, accepted))
            self._listening.set()
            self.loop.run()
        finally:
            listener.close()
            for each in list(self.clients):
                each.end()
            self.pool.forget()
            self.loop.close()


class ClientConnection(Connection):
    """One connection of a client: takes one request after another."""

    __slots__ = (
        *("_at_end", "_body", "_dropped", "_exchange", "_front", "_head", "_keeps_open", "_pieces", "_size"),
        *("_waiting", "takes_chunks"),
    )

    def __init__(self, front: Front, accepted: socket.socket) -> None:
        """It has just been made."""
        self._front = front
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
        front.clients.add(self)
        Connection.__init__(self, front.loop, accepted)

    def received(self, data: bytes) -> None:
        """A part of a request, or several."""
        if self._dropped:
            self._dropped = max(0, self._dropped - len(data))
            if not self._dropped:
                self.end()
        elif self._exchange is not None:
            self._waiting += data
            if len(self._waiting) > MOST_HEAD:
                self.read(on=False)
        else:
            self._take(self._waiting + data if self._waiting else data)

    def ended(self, error: Exception | None) -> None:
        """The client sends no more. Unless there is an error, it may wait for an answer."""
        self._at_end = True
        if error is not None:
            self.end(at_once=False)
        elif self._exchange is None:
            self._ended_between()

    def full(self, *, full: bool) -> None:
        """The client does not keep up, or does so again."""
        if self._exchange is not None:
            self._exchange.hold(held=full)

    def end(self, *, at_once: bool = True) -> None:
        """Close the connection, and give up the request that is on its way."""
        if self._exchange is not None:
            self._exchange.abandon(at_once=at_once)
        self._leave(at_once=True)

    def answered(self, *, last: bool = False) -> None:
        """All of the answer was written."""
        self._exchange = None
        if last or not self._keeps_open:
            self._leave()
        elif self._waiting and not self.done:
            self.read(on=not self._at_end)
            self._take(self._waiting)
        if self._at_end and self._exchange is None:
            self._ended_between()

    def failed(self, error: AnswerError) -> None:
        """The service answers with an error."""
        self.write(error_answer(error))
        self.answered()

    def broken(self) -> None:
        """The answer is cut short: so is this one, whose status has been sent."""
        self._exchange = None
        self._leave(at_once=True)

    def _ended_between(self) -> None:
        """No more requests come, and none is on its way."""
        if (self._waiting or self._head is not None) and not self._dropped and not self.done:
            self._not_http("it ends too early")
        self._leave()

    def _leave(self, *, at_once: bool = False) -> None:
        self._front.clients.discard(self)
        self.close(at_once=at_once)

    def _take(self, data: bytes) -> None:
        """Requests, until one is on its way."""
        self._waiting = b""
        try:
            while self._exchange is None and not self._dropped and not self.done:
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
        place, _, called = target.partition("?")[0].rpartition("/")
        if place != f"/endpoints/{front.identity.endpoint}" or called not in {INVOKED, STREAMED}:
            raise AnswerError(404, "UnknownOperationException", {"message": "there is only this endpoint here"})
        if method != "POST":
            raise validation_error("an invocation is a POST")
        if front.routes is None:
            raise AssertionError(front.identity.endpoint)  # they are given before clients know the address
        headers = passed_headers(head.headers)
        exchange = Exchange(
            asker=self,
            pool=front.pool,
            limits=front.limits,
            identity=front.identity,
            route=front.routes.route(head.headers),
            headers=headers,
            streamed=called == STREAMED,
        )
        self._exchange = exchange
        exchange.begin(b"".join(self._pieces))

    def _refused(self, error: AnswerError) -> None:
        too_much = error.status == TOO_LARGE
        self.write(error_answer(error, last=too_much))
        if too_much:  # what the client still sends is read: a connection closed before loses the answer
            self._dropped = _DRAINED
            self._front.loop.after(_DRAIN_SECONDS, self.end)
        elif not self._keeps_open:
            self._leave()

    def _not_http(self, why: str) -> None:
        self.write(error_answer(validation_error(f"the request is not valid HTTP: {why}"), last=True))
        self._leave()
