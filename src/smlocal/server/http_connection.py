"""One connection of a client: uvicorn's, with limits of time and size for the head of each request."""

import asyncio
from collections.abc import Callable
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from smlocal.server.limits import MOST_HEAD

HEAD_SECONDS = 20.0
_PIECE = 4 << 10
_TOO_LONG = b"the head is too long"
_REFUSED = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Type: text/plain; charset=utf-8\r\n"
    b"Content-Length: %d\r\nConnection: close\r\n\r\n%s" % (len(_TOO_LONG), _TOO_LONG)
)


class HttpConnection(H11Protocol):
    """uvicorn limits how long an idle connection is kept, but not how slowly a request may come.

    And it limits a head that is not complete, but not one whose end comes together with too much of it.
    """

    _late: asyncio.TimerHandle | None = None
    when_lost: Callable[[], None] | None = None
    """Called when the connection has ended."""
    _head = 0
    """Bytes that have come of a head."""

    def connection_made(self, transport: Any) -> None:
        """The first request has to come in time."""
        super().connection_made(transport)
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        """The rest of a head has to come in time, too."""
        self._take(data)
        cycle: Any = self.cycle  # None before the first request, whatever its type says
        if cycle is None or cycle.response_complete:
            self._expect_head()
        else:
            self._forget()

    def _take(self, data: bytes) -> None:
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

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is expected any more."""
        self._forget()
        super().connection_lost(exc)
        if self.when_lost is not None:
            self.when_lost()

    def _expect_head(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _forget(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
