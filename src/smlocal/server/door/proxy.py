"""The TLS door: an HTTPS proxy that answers for AWS's host names, and passes all others through unread.

Only who knows its password gets through it: the program of one run of `smlocal exec`.
"""

import asyncio
import hmac
from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.parse import unquote, urlsplit

from smlocal.server.aws_names import is_aws
from smlocal.server.door.authority import Authority
from smlocal.server.http_connection import HttpConnection

USER = "smlocal"
MOST_HEAD = 16 << 10
"""For `asyncio.start_server`: the limit of what is read ahead."""
_HEAD_SECONDS, _CONNECT_SECONDS, _TLS_SECONDS = 20.0, 30.0, 20.0
_PIECE = 64 << 10
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Proxy:
    """Serves CONNECT. What comes for AWS's names is answered in this process."""

    def __init__(
        self,
        *,
        authority: Authority,
        password: str,
        connection: Callable[[], HttpConnection],
        upstream: str | None,
        log: Callable[[str], None],
    ) -> None:
        """`connection` makes what answers AWS's names. `upstream`: the proxy that the user has set for all others."""
        self._authority = authority
        self._login = b64encode(f"{USER}:{password}".encode())
        self._connection = connection
        self._upstream = upstream
        self._log = log

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, to its end."""
        try:
            host, port, login = await _asked(reader)
        except (ValueError, OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            await _refuse(writer, "400 Bad Request")
            return
        if not hmac.compare_digest(login, self._login):
            await _refuse(writer, "407 Proxy Authentication Required", 'Proxy-Authenticate: Basic realm="smlocal exec"')
            return
        try:
            if is_aws(host):
                with suppress(ConnectionError):  # a client may go at any time
                    await self._aws(writer, host)
            else:
                await self._other(reader, writer, host, port)
        except (OSError, TimeoutError, EOFError) as error:
            self._log(f"proxy: {host}: {str(error) or type(error).__name__}")
            await _refuse(writer, "502 Bad Gateway")
        finally:
            writer.close()

    async def _aws(self, writer: asyncio.StreamWriter, host: str) -> None:
        writer.write(b"HTTP/1.1 200 Connection Established\r\n\r\n")
        await writer.drain()
        early = _Early()
        transport: Any = await asyncio.get_running_loop().start_tls(
            writer.transport,
            early,
            self._authority.context_for(host),
            server_side=True,
            ssl_handshake_timeout=_TLS_SECONDS,
        )
        if transport is None or early.lost:
            return
        connection, lost = self._connection(), asyncio.Event()
        connection.when_lost = lost.set
        transport.set_protocol(connection)
        connection.connection_made(transport)
        if early.data:
            connection.data_received(bytes(early.data))
        try:
            await lost.wait()
        finally:
            transport.abort()

    async def _other(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, port: int) -> None:
        async with asyncio.timeout(_CONNECT_SECONDS):
            other = await (_open_through(self._upstream, host, port) if self._upstream else _open(host, port))
        try:
            writer.write(b"HTTP/1.1 200 Connection Established\r\n\r\n")
            await writer.drain()
            await _relay((reader, writer), other)
        finally:
            other[1].close()


class _Early(asyncio.Protocol):
    """Keeps what a client sends before its connection has been handed on."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.lost = False

    def data_received(self, data: bytes) -> None:
        self.data += data

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self.lost = True


async def _asked(reader: asyncio.StreamReader) -> tuple[str, int, bytes]:
    """Host and port of `CONNECT host:port HTTP/1.1`, and the login, which may be empty."""
    async with asyncio.timeout(_HEAD_SECONDS):
        head = await reader.readuntil(b"\r\n\r\n")
    first, *headers = head.split(b"\r\n")
    method, target, _ = first.decode("ascii").split(" ")
    address = urlsplit(f"//{target}")
    if method != "CONNECT" or address.hostname is None or address.port is None:
        raise ValueError(method)
    return address.hostname.rstrip("."), address.port, _login(headers)


def _login(headers: list[bytes]) -> bytes:
    """What the header Proxy-Authorization has after `Basic`."""
    for header in headers:
        name, _, value = header.partition(b":")
        kind, _, login = value.strip().partition(b" ")
        if name.lower() == b"proxy-authorization" and kind.lower() == b"basic":
            return login.strip()
    return b""


async def _open(host: str, port: int) -> Streams:
    return await asyncio.open_connection(host, port)


async def _open_through(proxy: str, host: str, port: int) -> Streams:
    """A connection by way of the user's own proxy."""
    address = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    default = 443 if address.scheme == "https" else 80
    reader, writer = await asyncio.open_connection(
        address.hostname, address.port or default, ssl=True if address.scheme == "https" else None
    )
    named = f"[{host}]" if ":" in host else host
    login = ""
    if address.username is not None:
        pair = f"{unquote(address.username)}:{unquote(address.password or '')}"
        login = f"Proxy-Authorization: Basic {b64encode(pair.encode()).decode()}\r\n"
    writer.write(f"CONNECT {named}:{port} HTTP/1.1\r\nHost: {named}:{port}\r\n{login}\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    if head.split(b" ", 2)[1] != b"200":
        writer.close()
        answer = head.partition(b"\r\n")[0].decode("latin-1")
        raise OSError(f"the proxy {address.hostname} refuses: {answer}")
    return reader, writer


async def _relay(one: Streams, other: Streams) -> None:
    """Copy both ways, until both have ended or one has failed."""
    async with asyncio.TaskGroup() as group:
        group.create_task(_copy(one[0], other[1]))
        group.create_task(_copy(other[0], one[1]))


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await source.read(_PIECE):
            target.write(piece)
            await target.drain()
    with suppress(OSError):
        if target.can_write_eof():
            target.write_eof()
        else:  # TLS
            target.close()


async def _refuse(writer: asyncio.StreamWriter, status: str, *headers: str) -> None:
    lines = (f"HTTP/1.1 {status}", *headers, "Content-Length: 0", "Connection: close", "", "")
    with suppress(OSError):
        writer.write("\r\n".join(lines).encode())
        await writer.drain()
    writer.close()
