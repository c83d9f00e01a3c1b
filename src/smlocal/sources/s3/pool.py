"""Connections to S3, kept for the next request, through a proxy and encrypted where that is configured."""

import base64
import socket
import threading
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from smlocal.sources.s3.connection import TICK, BrokenConnectionError, Connection
from smlocal.sources.s3.settings import S3Settings

if TYPE_CHECKING:
    import ssl
    from urllib.parse import SplitResult

_CONNECT = 5.0
_KEPT = 64
_OK = 200


class Pool:
    """Idle connections by host; safe to use from many threads."""

    def __init__(self, settings: S3Settings) -> None:
        """A pool without connections."""
        self._settings = settings
        self._idle: dict[str, list[Connection]] = {}
        self._lock = threading.Lock()

    def take(self, host: str, waiting: Callable[[], None]) -> Connection:
        """A connection, if need be a new one; OSError or `BrokenConnectionError` when there is none to be had."""
        with self._lock:
            idle = self._idle.get(host)
            connection = idle.pop() if idle else None
        if connection is None:
            return self._connect(host, waiting)
        connection.waiting = waiting
        return connection

    def give_back(self, host: str, connection: Connection) -> None:
        """Keep a connection for the next request, or close it if its answer was not read to the end."""
        with self._lock:
            idle = self._idle.setdefault(host, [])
            if connection.is_reusable and len(idle) < _KEPT:
                idle.append(connection)
                return
        connection.close()

    def clear(self) -> None:
        """Close all idle connections: one of them was found dead, so all may be."""
        with self._lock:
            idle = [connection for kept in self._idle.values() for connection in kept]
            self._idle.clear()
        for connection in idle:
            connection.close()

    def __del__(self) -> None:
        """A client that nobody holds any more need not have been closed."""
        self.clear()

    def target(self, authority: str, path: str) -> str:
        """What the request's first line asks for: a plain proxy wants the whole address."""
        return (
            f"http://{authority}{path}" if self._proxy is not None and not self._settings.endpoint.encrypted else path
        )

    @property
    def proxy_headers(self) -> dict[str, str]:
        """What tells a proxy that sees every request who asks."""
        if self._proxy is None or self._settings.endpoint.encrypted:
            return {}
        return _authorization(self._proxy)

    @cached_property
    def _proxy(self) -> "SplitResult | None":
        if self._settings.proxy is None:
            return None
        from urllib.parse import urlsplit

        return urlsplit(self._settings.proxy)

    def _connect(self, host: str, waiting: Callable[[], None]) -> Connection:
        endpoint, proxy = self._settings.endpoint, self._proxy
        name, port = (proxy.hostname or "", proxy.port or 80) if proxy else (host, endpoint.port)
        # Of a text, the codec for international names would be loaded before anything is looked at.
        plain: Any = name.encode() if name.isascii() else name
        sock = socket.create_connection((plain, port), timeout=_CONNECT)
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if endpoint.encrypted:
                if proxy:
                    _tunnel(sock, endpoint.authority(host) if endpoint.port != 443 else f"{host}:443", proxy)  # noqa: PLR2004  of https
                sock = self._tls.wrap_socket(sock, server_hostname=host)
            sock.settimeout(TICK)
        except BaseException:
            sock.close()
            raise
        return Connection(sock, waiting)

    @cached_property
    def _tls(self) -> "ssl.SSLContext":
        import os
        import ssl

        trusted = self._settings.authorities or _botocore_authorities()
        folder = trusted is not None and os.path.isdir(trusted)
        return ssl.create_default_context(cafile=None if folder else trusted, capath=trusted if folder else None)


def _tunnel(sock: socket.socket, authority: str, proxy: "SplitResult") -> None:
    def enough() -> None:
        raise BrokenConnectionError("the proxy does not answer")

    status, _ = Connection(sock, enough).ask("CONNECT", authority, {"host": authority, **_authorization(proxy)})
    if status != _OK:
        raise BrokenConnectionError(f"the proxy answers with {status}")


def _authorization(proxy: "SplitResult") -> dict[str, str]:
    if proxy.username is None:
        return {}
    from urllib.parse import unquote

    pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"proxy-authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}


def _botocore_authorities() -> str | None:
    """The certificates that botocore would trust, found without importing it; None for those of the system."""
    import os
    from importlib.util import find_spec

    for package in ("certifi", "botocore"):
        spec = find_spec(package)
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            path = f"{folder}/cacert.pem"
            if os.path.exists(path):
                return path
    return None
