"""One connection of a client: uvicorn's, with a limit of time for the head of each request."""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 20.0


class HttpConnection(H11Protocol):
    """uvicorn limits how long an idle connection is kept, but not how slowly a request may come."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """The first request has to come in time."""
        super().connection_made(transport)
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        """The rest of a head has to come in time, too."""
        super().data_received(data)
        cycle: Any = self.cycle  # None before the first request, whatever its type says
        if cycle is None or cycle.response_complete:
            self._expect_head()
        else:
            self._forget()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is expected any more."""
        self._forget()
        super().connection_lost(exc)

    def _expect_head(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _forget(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
