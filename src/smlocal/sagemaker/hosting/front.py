"""The address of this machine at which an endpoint is invoked: what the service does between a client and a container.

It runs in a thread of the supervisor. Connections of clients and to the container are kept open. Without requests it
does nothing at all.

It listens at a port, where the rules of `base.web` hold, and at a socket in the folder of the job, which only the owner
reaches: smlocal itself asks there, so no other program can take the place of a front that was killed.
"""

import socket
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import field
from functools import partial
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final

from smlocal.base import web
from smlocal.base.at_use import at_use
from smlocal.base.quick_dataclass import dataclass
from smlocal.base.threads import watched_thread
from smlocal.base.unix_sockets import listening_at
from smlocal.base.web import SMALL, Body, BodyContent, HeldBytes, MessageError, MessageHead, Share, take_head
from smlocal.jobs.planning.aspects.serving.plan import ServingPlan
from smlocal.sagemaker.hosting.exchange import CONNECT_SECONDS, Exchange, Pool
from smlocal.sagemaker.hosting.service_answers import (
    FORBIDDEN,
    LATE,
    NOT_FOUND,
    Identity,
    error_answer,
    passed_headers,
    too_large,
    validation_error,
)
from smlocal.sagemaker.serving.connections import Connection, Loop, Timer, accept_from, allow_many
from smlocal.sagemaker.serving.facts import INVOKED, STREAMED
from smlocal.sagemaker.serving.route import Address, AnswerError, OneContainer, Routes

if TYPE_CHECKING:
    from hmac import compare_digest

    from smlocal.sagemaker.serving.invocations import InvocationCounts, read_invocations
else:
    compare_digest = at_use("hmac", "compare_digest")  # with all of OpenSSL
    read_invocations = at_use("smlocal.sagemaker.serving.invocations", "read_invocations")

_DRAINED: Final = 256 << 20
"""Bytes of a refused request that are read and dropped, so that its client reads the answer."""
_DRAIN_SECONDS: Final = 30.0
_KEPT_EVERY: Final = 2.0
"""Seconds between writes of the counts of invocations."""


@dataclass(kw_only=True, slots=True)
class Front:
    """Listens, and passes invocations on."""

    identity: Identity
    limits: ServingPlan
    port: int = 0
    """Where it listens; before `start`, where it is wanted: 0 for any."""
    owners_socket: str = ""
    """The path of the socket at which only the owner reaches it; empty: there is none."""
    key: str | None = None
    """What `Authorization` must be at the port; None: nothing."""
    routes: Routes | None = None
    """Asked once for each invocation."""
    directory: str = ""
    """The folder where counts and times of invocations are kept; empty: nowhere."""
    invocations: "InvocationCounts | None" = None
    """The counts, from the first invocation on."""
    clients: "set[ClientConnection]" = field(default_factory=set)
    held: HeldBytes = field(default_factory=lambda: HeldBytes(web.MOST_HELD))
    """The bodies of all requests that are on their way, and answers that are kept."""
    owners_held: HeldBytes = field(default_factory=lambda: HeldBytes(web.MOST_HELD))
    """Those of the owner, whom nobody else can keep waiting."""
    loop: Loop = field(default_factory=Loop)
    pool: Pool = field(init=False)
    _thread: Thread | None = None
    _listening: Event = field(default_factory=Event)

    def __post_init__(self) -> None:
        self.pool = Pool(loop=self.loop, held=self.held)

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

    def count(self, variant: str, seconds: float | None, error: AnswerError | None) -> None:
        """An invocation was answered. `seconds` None: no container was asked."""
        if not self.directory:
            return
        kept = self.invocations
        if kept is None:
            kept = self.invocations = read_invocations(self.directory)
        if not kept.changed:
            self.loop.after(_KEPT_EVERY, kept.write)
        kept.answered(variant, seconds, None if error is None else (error.status, error.document))

    def forget(self) -> None:
        """Close the connections to containers that carry no request: a container was started again."""
        self.loop.call(self.pool.forget)

    def close(self) -> None:
        """Stop listening, and end all connections."""
        self.loop.call(self.loop.stop)
        if self._thread is not None:
            self._thread.join(CONNECT_SECONDS)

    def _run(self) -> None:
        with ExitStack() as stack:
            listen = partial(socket.create_server, backlog=1024)
            try:
                listener = stack.enter_context(listen(("127.0.0.1", self.port)))
            except OSError:  # another program has the port that an earlier supervisor had
                listener = stack.enter_context(listen(("127.0.0.1", 0)))
            self.port = listener.getsockname()[1]
            accept_from(self.loop, listener, self._accept)
            if self.owners_socket:
                owners = stack.enter_context(listening_at(self.owners_socket))
                accept_from(self.loop, owners, lambda accepted: ClientConnection(self, accepted, is_owner=True))
            self._listening.set()
            try:
                self.loop.run()
            finally:
                for each in list(self.clients):
                    each.end()
                self.pool.forget()
                self.loop.close()
                if self.invocations is not None:
                    self.invocations.write()

    def _accept(self, accepted: socket.socket) -> None:
        if len(self.clients) >= web.MOST_CONNECTIONS:
            accepted.close()
        else:
            ClientConnection(self, accepted)


class ClientConnection(Connection):
    """One connection of a client: takes one request after another."""

    __slots__ = (
        *("_answer_share", "_asked", "_at_end", "_body", "_content", "_dropped", "_exchange", "_front", "_head"),
        *("_held", "_is_owner", "_keeps_open", "_limit", "_share", "_waiting", "takes_chunks"),
    )

    def __init__(self, front: Front, accepted: socket.socket, *, is_owner: bool = False) -> None:
        """It has just been made. `is_owner`: only the owner of the endpoint can have made it."""
        self._front, self._is_owner = front, is_owner
        self._held = front.owners_held if is_owner else front.held
        self._exchange: Exchange | None = None
        self._asked: tuple[str, float] | None = None
        """The variant that has the request, and since when."""
        self._head: MessageHead | None = None
        self._body: Body | None = None
        self._content = BodyContent()
        self._share: Share | None = None
        """Its part of the bytes that may be held together."""
        self._answer_share: Share | None = None
        """The part of an answer that the client has not read."""
        self._waiting = b""
        """What has arrived and was not taken."""
        self._at_end = False
        """True if the client sends no more."""
        self._dropped = 0
        """How many more bytes of a refused request are read and dropped; 0: there is none."""
        self._keeps_open = True
        self._limit: Timer | None = None
        """Ends what takes too long."""
        self.takes_chunks = True
        Connection.__init__(self, front.loop, accepted)
        front.clients.add(self)
        self._expect(web.HEAD_SECONDS)

    def received(self, data: bytes) -> None:
        """A part of a request, or several."""
        if self._dropped:
            self._dropped = max(0, self._dropped - len(data))
            if not self._dropped:
                self.end()
        elif self._is_busy:
            self._waiting += data
            if len(self._waiting) > web.MOST_HEAD:
                self.read(on=False)
        else:
            if self._head is None and not self._waiting:
                self._expect(web.HEAD_SECONDS)
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
        elif not full:
            self._take_waiting()
            if self._at_end and self._exchange is None:
                self._ended_between()

    def flushed(self) -> None:
        """It has read everything."""
        self._give_back_answer()

    def close(self, *, at_once: bool = False) -> None:
        """End it; unless `at_once`, when the client has read everything, or does not for too long."""
        Connection.close(self, at_once=at_once)
        if self.closed:
            self._front.clients.discard(self)
            self._expect(None)
            self._forget_request()
            self._give_back_answer()
            self._waiting = b""
        else:
            self._limit_time(web.READ_SECONDS, self.end)

    def end(self, *, at_once: bool = True) -> None:
        """Close the connection, and give up the request that is on its way."""
        if self._exchange is not None:
            self._exchange.abandon(at_once=at_once)
        self._leave(at_once=True)

    def answered(self, *, last: bool = False) -> None:
        """All of the answer was written."""
        self._exchange = None
        self._count(None)
        self._forget_request()
        self._expect(web.IDLE_SECONDS)
        if not self.unsent:
            self._give_back_answer()
        if last or not self._keeps_open:
            self._leave()
        else:
            self._take_waiting()
        if self._at_end and self._exchange is None:
            self._ended_between()

    def failed(self, error: AnswerError) -> None:
        """The service answers with an error."""
        self._count(error)
        self.write(error_answer(error))
        self.answered()

    def broken(self) -> None:
        """The answer is cut short: so is this one, whose status has been sent."""
        self._exchange = None
        self._count(AnswerError(200, "ModelError", {"Message": "the answer of the container was cut short"}))
        self._leave(at_once=True)

    def _count(self, error: AnswerError | None) -> None:
        if self._asked is not None:
            variant, began = self._asked
            self._asked = None
            self._front.count(variant, time.monotonic() - began, error)

    def has_room(self, size: int) -> bool:
        """True if an answer of so many bytes may be kept for the client."""
        if size <= SMALL:
            return True
        if not self.unsent:  # else it would be given back when the answer before has been read
            self._answer_share = self._held.take_now(size)
        return self._answer_share is not None

    @property
    def _is_busy(self) -> bool:
        """True while no other request is taken."""
        return self._exchange is not None or self._waits or self._full

    def _take_waiting(self) -> None:
        """What has arrived meanwhile."""
        if self._is_busy or self.done:
            return
        if not self._at_end:
            self.read(on=True)
        if self._waiting:
            self._take(self._waiting)
            if self._waiting and not self._is_busy:
                self._expect(web.HEAD_SECONDS)

    def _give_back_answer(self) -> None:
        if self._answer_share is not None:
            share, self._answer_share = self._answer_share, None
            share.give_back()

    @property
    def _waits(self) -> bool:
        """True while others have all the bytes that may be held."""
        return self._share is not None and not self._share.granted

    def _expect(self, seconds: float | None) -> None:
        """What comes next has to come within this time. The owner's own programs take what they need."""
        self._limit_time(None if self._is_owner else seconds, self._late)

    def _limit_time(self, seconds: float | None, call: Callable[[], None]) -> None:
        """One limit at a time; None: there is none."""
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None
        if seconds is not None:
            self._limit = self._front.loop.after(seconds, call)

    def _late(self) -> None:
        """It did not come."""
        if self._full:
            self.end()
        elif self._waits:
            busy = AnswerError(503, "ServiceUnavailable", {"Message": "too many bytes of other requests are held"})
            self.write(error_answer(busy, last=True))
            self._leave()
        elif self._head is None and not self._waiting:
            self._leave()
        else:
            late = AnswerError(LATE, "RequestTimeout", {"Message": "the request did not come in time"})
            self.write(error_answer(late, last=True))
            self._leave()

    def _forget_request(self) -> None:
        """Its bytes are not needed any more."""
        self._content = BodyContent()
        if self._share is not None:
            share, self._share = self._share, None
            share.give_back()

    def _ended_between(self) -> None:
        """No more requests come, and none is on its way. Those that have come wait for a client that does not read."""
        if self._full:
            return
        if (self._waiting or self._head is not None) and not self._dropped and not self.done:
            self._not_http("it ends too early")
        self._leave()

    def _leave(self, *, at_once: bool = False) -> None:
        self._forget_request()
        self.close(at_once=at_once)

    def _take(self, data: bytes) -> None:
        """Requests, until one is on its way."""
        self._waiting = b""
        try:
            while self._exchange is None and not self._dropped and not self._full and not self.done:
                try:
                    if self._head is None:
                        self._head, data = take_head(data)
                        if self._head is None:
                            break
                        self._begin(self._head)
                    if self._body is None:
                        raise AssertionError(self._head.first)  # it has begun
                    data = self._part(self._body, data)
                    if self._waits:
                        break
                    if not self._body.ended:
                        return
                    self._invoke(self._head)
                except AnswerError as error:
                    self._refused(error)
                finally:
                    if self._body is None or (self._body.ended and not self._waits):
                        self._head = self._body = None
            self._waiting = b"" if self._dropped or self.done else data
        except MessageError as error:
            self._not_http(str(error))

    def _begin(self, head: MessageHead) -> None:
        """The head of a request has come. What is wrong with it is said before its body is read."""
        head.check_request()
        if not self._is_owner:
            self._check_client(head)
        most = self._front.limits.most_body
        body = Body(head, to_the_end=False)
        if body.length is not None and body.length > most:
            raise too_large(body.length, most)
        self._body = body
        if body.ended:
            return
        self._expect(web.BODY_SECONDS)
        if body.length is not None and body.length > SMALL:
            self._hold(body.length)
        if head.headers.get("expect", "").lower() == "100-continue":
            self.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def _check_client(self, head: MessageHead) -> None:
        """Refuse whom the rules of every address refuse, and who does not have the key."""
        headers, key = head.headers, self._front.key
        refused = web.refusal(head.first[0], headers, knows=lambda _: False)
        if refused is None and key is not None:
            stated = headers.get("authorization", "")
            if not compare_digest(stated.encode("latin-1"), key.encode("latin-1")):
                name = self._front.identity.endpoint
                refused = f"this endpoint demands its key: smlocal describe {name} shows the curl option"
        if refused is not None:
            raise AnswerError(FORBIDDEN, "AccessDeniedException", {"Message": refused})

    def _hold(self, size: int) -> None:
        """Have room for a large body, now or when others have given theirs back."""
        self._share = self._held.take(size, lambda: self._front.loop.soon.append(self._go_on))
        self._content.reserve(size)
        if not self._share.granted:
            self.read(on=False)
            self._expect(web.WAIT_SECONDS)

    def _go_on(self) -> None:
        """There is room."""
        if self._share is not None and not self.done:
            self._expect(web.BODY_SECONDS)
            self.read(on=not self._at_end)
            self._take(self._waiting)

    def _part(self, body: Body, data: bytes) -> bytes:
        """Take a part of the body; returns what follows."""
        if self._waits:
            return data
        content, rest = body.take(data)
        if content:
            most = self._front.limits.most_body
            if self._content.size + len(content) > most:
                self._body = None
                raise too_large(self._content.size + len(content), most)
            if self._share is None and self._content.size + len(content) > SMALL:
                self._hold(most)
            self._content.add(content)
        return rest

    def _invoke(self, head: MessageHead) -> None:
        """The request is complete."""
        front = self._front
        method, target, version = head.first
        self._expect(None)
        self._keeps_open, self.takes_chunks = head.keeps_open(version), version != "HTTP/1.0"
        place, _, called = target.partition("?")[0].rpartition("/")
        if place != f"/endpoints/{front.identity.endpoint}" or called not in {INVOKED, STREAMED}:
            raise AnswerError(404, "UnknownOperationException", {"message": "there is only this endpoint here"})
        if method != "POST":
            raise validation_error(f"an invocation is a POST to /endpoints/{front.identity.endpoint}/{called}")
        if front.routes is None:
            raise AssertionError(front.identity.endpoint)  # they are given before clients know the address
        headers = passed_headers(head.headers)
        route = front.routes.route(head.headers)
        self._asked = route.variant, time.monotonic()
        exchange = Exchange(
            asker=self,
            pool=front.pool,
            limits=front.limits,
            identity=front.identity,
            route=route,
            headers=headers,
            streamed=called == STREAMED,
        )
        self._exchange = exchange
        share, self._share = self._share, None
        if share is not None:
            share.shrink(self._content.size)
        content, self._content = self._content.whole(), BodyContent()
        exchange.begin(content, share)

    def _refused(self, error: AnswerError) -> None:
        """Answer with an error. What is refused because of its head is not read to its end."""
        unread = self._body is None or not self._body.ended
        if error.status not in {FORBIDDEN, NOT_FOUND}:  # requests for another endpoint, or not from users
            self._front.count("", None, error)
        self.write(error_answer(error, last=unread))
        self._forget_request()
        self._body = None
        if unread:  # what the client still sends is read: a connection closed before loses the answer
            self._dropped = _DRAINED
            self._limit_time(_DRAIN_SECONDS, self.end)
        elif not self._keeps_open:
            self._leave()
        else:
            self._expect(web.IDLE_SECONDS)

    def _not_http(self, why: str) -> None:
        self.write(error_answer(validation_error(f"the request is not valid HTTP: {why}"), last=True))
        self._leave()
