"""The proxy of `smlocal exec`: which heads it takes, and what the user's own proxy may answer."""

import asyncio
import socket
from base64 import b64encode
from collections.abc import Callable
from typing import Any

import pytest

from smlocal.endpoint.door.proxy import MOST_HEAD, USER, Authority, Proxy

LOGIN = f"Proxy-Authorization: Basic {b64encode(f'{USER}:secret'.encode()).decode()}"


def never() -> Any:
    raise AssertionError("nothing of AWS is asked")


def asked(head: str, own: str = "", log: Callable[[str], None] = lambda _: None) -> str:
    """The first line that answers this head; `own`: what the user's own proxy answers."""

    async def own_proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(own.encode("latin-1"))
        await writer.drain()
        writer.close()

    async def ask() -> str:
        upstream = await asyncio.start_server(own_proxy, "127.0.0.1", 0)
        address = f"http://127.0.0.1:{upstream.sockets[0].getsockname()[1]}"
        proxy = Proxy(authority=Authority(), password="secret", connection=never, upstream=address, log=log)
        server = await asyncio.start_server(proxy.answer, "127.0.0.1", 0, limit=MOST_HEAD)
        async with upstream, server, asyncio.timeout(100):
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            writer.write(head.encode("latin-1"))
            line = await reader.readline()
            writer.close()
        return line.decode().strip()

    return asyncio.run(ask())


@pytest.mark.parametrize(
    "head",
    [
        "GET http://a.test/ HTTP/1.1\r\n\r\n",
        "CONNECT a.test:443\r\n\r\n",
        "CONNECT a.test:443 HTTP/9.9\r\n\r\n",
        "CONNECT a.test HTTP/1.1\r\n\r\n",
        "CONNECT \xe9.test:443 HTTP/1.1\r\n\r\n",
        f"CONNECT a.test:443 HTTP/1.1\r\nX: a\n{LOGIN}\r\n\r\n",
        f"CONNECT a.test:443 HTTP/1.1\r\n{LOGIN.replace(':', ' :')}\r\n\r\n",
    ],
)
def test_a_head_that_can_be_read_in_two_ways_is_refused(head: str) -> None:
    assert asked(head) == "HTTP/1.1 400 Bad Request"


@pytest.mark.parametrize(
    ("own", "answer"),
    [
        ("HTTP/1.0 200 Connection established\r\nVia: 1.1 proxy\r\n\r\n", "200 Connection Established"),
        ("HTTP/1.1 200\r\n\r\n", "200 Connection Established"),
        ("HTTP/1.1 403 Not here\r\n\r\n", "502 Bad Gateway"),
        ("nonsense\r\n\r\n", "502 Bad Gateway"),
    ],
)
def test_others_are_reached_by_the_users_own_proxy(own: str, answer: str) -> None:
    said: list[str] = []
    assert asked(f"CONNECT a.test:443 HTTP/1.1\r\n{LOGIN}\r\n\r\n", own, said.append) == f"HTTP/1.1 {answer}"
    assert len(said) == answer.startswith("502")
    assert "403" not in own or said == ["proxy: a.test: your own proxy 127.0.0.1 refuses: HTTP/1.1 403 Not here"]


@pytest.mark.parametrize(("listens", "says"), [(True, "does not answer"), (False, "is unreachable")])
def test_a_proxy_of_the_user_that_does_not_answer_is_named(
    listens: bool, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program is told, and does not wait for ever."""
    monkeypatch.setattr("smlocal.endpoint.door.proxy._CONNECT_SECONDS", 0.1 if listens else 60.0)
    said: list[str] = []

    async def ask(upstream: str) -> bytes:
        proxy = Proxy(authority=Authority(), password="secret", connection=never, upstream=upstream, log=said.append)
        server = await asyncio.start_server(proxy.answer, "127.0.0.1", 0, limit=MOST_HEAD)
        async with server, asyncio.timeout(100):
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            writer.write(f"CONNECT a.test:443 HTTP/1.1\r\n{LOGIN}\r\n\r\n".encode())
            line = await reader.readline()
            writer.close()
        return line

    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        if listens:
            mute.listen()
        line = asyncio.run(ask(f"http://127.0.0.1:{mute.getsockname()[1]}"))
    assert line.startswith(b"HTTP/1.1 502 ")
    assert len(said) == 1
    assert "HTTPS_PROXY" in said[0]
    assert says in said[0]
