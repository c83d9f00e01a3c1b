"""The application, served by uvicorn in a thread: on an open port, or on connections that somebody else accepts."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from threading import Event, Thread
from types import TracebackType
from typing import Any, Self

import uvicorn

from smlocal.server.http_connection import HttpConnection
from smlocal.server.limits import MOST_HEAD

_KEEP_ALIVE_SECONDS = 75
_START_SECONDS = 30.0
_END_SECONDS = 10.0


class HttpServer:
    """A context manager: inside the block it answers. The calling thread is free, and keeps its signals."""

    def __init__(
        self,
        application: Any,
        listener: socket.socket | None,
        *,
        beside: Callable[["HttpServer"], Awaitable[None]] | None = None,
    ) -> None:
        """Without a `listener` there are the connections of `connection` alone.

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
        """What has ended the server, if it was not asked to end."""

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
        log_level="critical",  # the application tells the owner what has failed
        access_log=False,
        lifespan="off",
        ws="none",
        http=HttpConnection,
        h11_max_incomplete_event_size=MOST_HEAD,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
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
