"""One connection of a client: uvicorn's, with limits of time and size for the head of each request, and with turns."""

import asyncio
from collections.abc import Callable
from typing import Any

import h11
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.h11_impl import H11Protocol

from smlocal.server.limits import MOST_HEAD

HEAD_SECONDS = 20.0
_PIECE = 4 << 10
_MANY_LINES = 500
"""In what has come at once. Each chunk has two lines, and takes as long as reading thousands of bytes."""
_AT_ONCE = 4 << 10
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
    """What has come, and waits for its turn."""

    def connection_made(self, transport: Any) -> None:
        """The first request has to come in time."""
        super().connection_made(transport)
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

    def _take_turn(self) -> None:
        """A part of what is held; all of it if it is no chunked body."""
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
            piece = data[: min(_PIECE, MOST_HEAD - self._head)]
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
            self._late = self.loop.call_later(HEAD_SECONDS, self.transport.close)

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
    """Reads as long as neither uvicorn nor the connection wants to pause."""

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
