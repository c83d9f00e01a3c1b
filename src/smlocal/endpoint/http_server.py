"""The application, served by uvicorn in a thread: on an open port, or on connections that somebody else accepts."""

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable
from threading import Event, Thread
from types import TracebackType
from typing import Any, Self

import h11
import uvicorn
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.h11_impl import H11Protocol

from smlocal.base.web import rules

_TWO_WAYS = re.compile(rb"\n(?:(?<!\r\n)|[ \t]|(?i:content-length):[^\r\n]*,)")
"""In a head: a line without CR at its end, a folded line, and `Content-Length: 3, 3`."""


class StrictConnection(h11.Connection):
    """Looks at the bytes from which h11 has made a request: in what it passes on, they are tidied up."""

    _chunked = False

    def next_event(self) -> Any:
        """As that of h11."""
        begins = self.their_state is h11.IDLE
        if not (begins or (self._chunked and self.their_state is h11.SEND_BODY)):
            return super().next_event()
        before = self.trailing_data[0]
        event = super().next_event()
        if isinstance(event, h11.Request):
            self._chunked = any(name == b"transfer-encoding" for name, _ in event.headers)
            if _TWO_WAYS.search(self._taken(before)):
                raise h11.RemoteProtocolError("the head could be read in two ways")
        elif isinstance(event, h11.EndOfMessage) and not begins:
            taken = self._taken(before)  # the last chunk may have been taken before
            if taken != b"\r\n" and not taken.endswith(b"\r\n\r\n"):
                raise h11.RemoteProtocolError("the end of the body could be read in two ways")
        return event

    def _taken(self, before: bytes) -> bytes:
        return before[: len(before) - len(self.trailing_data[0])]


_START_SECONDS = 30.0
_END_SECONDS = 10.0

_PIECE = 4 << 10
_MANY_LINES = 500
"""The limit in one piece. Each chunk has two lines, and takes as long as reading thousands of bytes."""
_AT_ONCE = 1 << 10
"""Bytes of many small chunks between which others have their turn."""
_TOO_LONG = b"the head is too long"
_REFUSED = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Type: text/plain; charset=utf-8\r\n"
    b"Content-Length: %d\r\nConnection: close\r\n\r\n%s" % (len(_TOO_LONG), _TOO_LONG)
)


class HttpConnection(H11Protocol):
    """uvicorn limits how long an idle connection is kept, but not how slowly a request may come, or in which pieces.

    And it limits a head that is not complete, but not one whose end comes together with too much of it.
    """

    _late: asyncio.TimerHandle | None = None
    when_lost: Callable[[], None] | None = None
    """Called when the connection has ended."""
    _head = 0
    """Bytes that have come of a head."""
    _held = b""
    """The bytes that have come and wait for their turn."""

    def connection_made(self, transport: Any) -> None:
        """The first request has to come in time."""
        super().connection_made(transport)
        self.conn = StrictConnection(h11.SERVER, rules.MOST_HEAD)
        if len(self.connections) > rules.MOST_CONNECTIONS:
            transport.abort()
        self.flow: _Flow = _Flow(transport)
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        """The rest of a head has to come in time, too."""
        if self._held:
            self._held += data
            self.transport.pause_reading()  # uvicorn has resumed it
        elif len(data) > _AT_ONCE and not self._has_plain_body() and _has_many_lines(data):
            self._held = data
            self._take_turn()
        else:
            self._take(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is expected any more."""
        self._forget()
        self._held = b""
        super().connection_lost(exc)
        if self.when_lost is not None:
            self.when_lost()

    def send_400_response(self, msg: str) -> None:
        """What came is not HTTP. If a request is being answered, its client has sent that, and gets no other answer."""
        cycle: Any = self.cycle  # None before the first request, whatever its type says
        if cycle is not None and not cycle.response_complete:
            cycle.disconnected = True
            cycle.message_event.set()
            if cycle.response_started:
                self.transport.close()
                return
        super().send_400_response(msg)

    def _take_turn(self) -> None:
        """A part of the held bytes; all of them if the body is not chunked."""
        piece = self._held[:_AT_ONCE]
        self._held = self._held[_AT_ONCE:]
        self._take(piece)
        if self._held and self._has_plain_body():
            piece, self._held = self._held, b""
            self._take(piece)
        if self.transport.is_closing():
            self._held = b""
        self.flow.hold(held=bool(self._held))
        if self._held:
            self.loop.call_soon(self._take_turn)

    def _take(self, data: bytes) -> None:
        self._feed(data)
        cycle: Any = self.cycle  # None before the first request, whatever its type says
        if cycle is None or cycle.response_complete:
            self._expect_head()
        else:
            self._forget()

    def _feed(self, data: bytes) -> None:
        while data and self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            piece = data[: min(_PIECE, rules.MOST_HEAD - self._head)]
            if not piece:
                self.transport.write(_REFUSED)
                self.transport.close()
                return
            super().data_received(piece)
            data = data[len(piece) :]
            self._head = self._head + len(piece) if self.conn.their_state is h11.IDLE else 0
        if data and not self.transport.is_closing():
            super().data_received(data)

    def _has_plain_body(self) -> bool:
        """True while the body of a request comes, and not in chunks."""
        cycle: Any = self.cycle
        if cycle is None or cycle.response_complete or not cycle.more_body:
            return False
        return not any(name == b"transfer-encoding" for name, _ in cycle.scope["headers"])

    def _expect_head(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(rules.HEAD_SECONDS, self.transport.close)

    def _forget(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


def _has_many_lines(data: bytes) -> bool:
    at = -1
    for _ in range(_MANY_LINES):  # counting would take a tenth of the time of an upload
        at = data.find(b"\r", at + 1)
        if at < 0:
            return False
    return data.count(b"\r\n") > _MANY_LINES


class _Flow(FlowControl):
    """Reads until uvicorn or the connection wants to pause."""

    def __init__(self, transport: Any) -> None:
        super().__init__(transport)
        self._held = False
        self._pausing = False

    def hold(self, *, held: bool) -> None:
        self._held = held
        self._apply()

    def pause_reading(self) -> None:
        self.read_paused = True
        self._apply()

    def resume_reading(self) -> None:
        self.read_paused = False
        self._apply()

    def _apply(self) -> None:
        wanted = self._held or self.read_paused
        if wanted == self._pausing:
            return
        self._pausing = wanted
        if wanted:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()


class HttpServer:
    """A context manager: inside the block it answers. The calling thread is free, and keeps its signals."""

    def __init__(
        self,
        application: Any,
        listener: socket.socket | None,
        *,
        beside: Callable[["HttpServer"], Awaitable[None]] | None = None,
    ) -> None:
        """Without a `listener`, only the connections of `connection` count.

        Calls `application.warm_up()` in a thread when it has begun, and `application.release()` when it is to end.

        `beside` runs in the same loop, until it is cancelled.
        """
        self._application = application
        self._server = _Server(application)
        self._listeners = [] if listener is None else [listener]
        self._beside = beside
        self._up = Event()
        self._thread = Thread(target=self._run, name="http-server", daemon=True)
        self.failed: BaseException | None = None
        """The error that ended the server, if it was not asked to end."""

    def __enter__(self) -> Self:
        self._thread.start()
        self._up.wait(_START_SECONDS)
        if self.failed is not None:
            raise self.failed
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.should_exit = True
        self._thread.join(_END_SECONDS)

    def connection(self) -> HttpConnection:
        """The protocol of a connection that somebody else has accepted, in the server's own loop."""
        return HttpConnection(config=self._server.config, server_state=self._server.server_state, app_state={})

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:  # noqa: BLE001 - the thread that started it raises it
            self.failed = error
        finally:
            self._up.set()

    async def _serve(self) -> None:
        beside = None if self._beside is None else asyncio.ensure_future(self._beside(self))
        warm_up = asyncio.create_task(asyncio.to_thread(self._application.warm_up))
        self._up.set()  # the port is open already: who connects now is answered soon
        try:
            await self._server.serve(sockets=self._listeners)
        finally:
            await warm_up
            if beside is not None:
                beside.cancel()


class _Server(uvicorn.Server):
    """Waits only for answers that are being made, not for those that are held."""

    def __init__(self, application: Any) -> None:
        super().__init__(_settings(application))
        self._application = application

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._application.release()
        await super().shutdown(sockets)


def _settings(application: Any) -> uvicorn.Config:
    return uvicorn.Config(
        application,
        log_config=None,
        log_level="critical",  # the application reports the failure to the owner
        access_log=False,
        lifespan="off",
        ws="none",
        http=HttpConnection,
        h11_max_incomplete_event_size=rules.MOST_HEAD,
        timeout_keep_alive=int(rules.IDLE_SECONDS),
        timeout_graceful_shutdown=1,
        server_header=False,
        proxy_headers=False,
    )


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; `OSError` if the port is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named as TCP, or asyncio leaves small packets waiting: 40 ms for each answer.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(1024)
    except BaseException:
        listener.close()
        raise
    return listener
