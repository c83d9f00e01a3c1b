"""The TLS door: an HTTPS proxy that answers for AWS's host names, and passes all others through unread."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import unquote, urlsplit

from smlocal.server.door.authority import Authority

_AWS = (".amazonaws.com", ".amazonaws.com.cn", ".api.aws")
MOST_HEAD = 16 << 10
"""For `asyncio.start_server`: the limit of what is read ahead."""
_HEAD_SECONDS, _CONNECT_SECONDS, _TLS_SECONDS = 20.0, 30.0, 20.0
_PIECE = 64 << 10
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Proxy:
    """Serves CONNECT. What it opens for AWS's names ends at the endpoint on this machine."""

    def __init__(
        self, *, authority: Authority, endpoint: tuple[str, int], upstream: str | None, log: Callable[[str], None]
    ) -> None:
        """`upstream`: the proxy that the user has set for everything else."""
        self._authority = authority
        self._endpoint = endpoint
        self._upstream = upstream
        self._log = log

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, to its end."""
        try:
            host, port = await _asked(reader)
        except (ValueError, OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            await _refuse(writer, "400 Bad Request")
            return
        try:
            if is_aws(host):
                await self._aws(reader, writer, host)
            else:
                await self._other(reader, writer, host, port)
        except (OSError, TimeoutError, EOFError) as error:
            self._log(f"proxy: {host}: {str(error) or type(error).__name__}")
            await _refuse(writer, "502 Bad Gateway")
        finally:
            writer.close()

    async def _aws(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str) -> None:
        endpoint = await asyncio.open_connection(*self._endpoint)
        try:
            with suppress(ConnectionError):  # a client may go at any time
                writer.write(b"HTTP/1.1 200 Connection Established\r\n\r\n")
                await writer.drain()
                async with asyncio.timeout(_TLS_SECONDS):
                    await writer.start_tls(self._authority.context_for(host))
                await _relay((reader, writer), endpoint)
        finally:
            endpoint[1].close()

    async def _other(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, port: int) -> None:
        async with asyncio.timeout(_CONNECT_SECONDS):
            other = await (_open_through(self._upstream, host, port) if self._upstream else _open(host, port))
        try:
            writer.write(b"HTTP/1.1 200 Connection Established\r\n\r\n")
            await writer.drain()
            await _relay((reader, writer), other)
        finally:
            other[1].close()


def is_aws(host: str) -> bool:
    """True for the names of AWS's services."""
    return host.lower().rstrip(".").endswith(_AWS)


async def _asked(reader: asyncio.StreamReader) -> tuple[str, int]:
    """Host and port of `CONNECT host:port HTTP/1.1`."""
    async with asyncio.timeout(_HEAD_SECONDS):
        head = await reader.readuntil(b"\r\n\r\n")
    method, target, _ = head.split(b"\r\n", 1)[0].decode("ascii").split(" ")
    address = urlsplit(f"//{target}")
    if method != "CONNECT" or address.hostname is None or address.port is None:
        raise ValueError(method)
    return address.hostname, address.port


async def _open(host: str, port: int) -> Streams:
    return await asyncio.open_connection(host, port)


async def _open_through(proxy: str, host: str, port: int) -> Streams:
    """A connection by way of the user's own proxy."""
    from base64 import b64encode

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


async def _refuse(writer: asyncio.StreamWriter, status: str) -> None:
    with suppress(OSError):
        writer.write(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
        await writer.drain()
    writer.close()
