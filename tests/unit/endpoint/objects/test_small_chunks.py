"""A body of a hundred thousand chunks of one byte: others have their turn meanwhile."""

import asyncio
import os
import socket
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request

from smlocal.endpoint.http_server import HttpServer, listen
from smlocal.endpoint.objects.object_files import IncomingFile
from smlocal.endpoint.objects.received import receive

_CHUNKS = 100_000
_CONTENT = b"a" * _CHUNKS
_CODED = b"1\r\na\r\n" * _CHUNKS + b"0\r\n\r\n"
_HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"


class _Counts:
    """Answers with the length of the body, and notes how much of it had come at each of its turns."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        del scope
        message = {"more_body": True}
        while message.get("more_body"):
            message = await receive()
            self.pieces.append(message.get("body", b""))
        body = b"%d" % sum(map(len, self.pieces))
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
        await send({"type": "http.response.body", "body": body})

    def warm_up(self) -> None:
        """Nothing."""

    def release(self) -> None:
        """Nothing is held."""


def asked(request: bytes) -> tuple[_Counts, bytes]:
    """The application after a request, and all that came back."""
    application = _Counts()
    with (
        listen("127.0.0.1", 0) as listener,
        HttpServer(application, listener),
        socket.create_connection(listener.getsockname(), timeout=60) as connection,
    ):
        answer = b""
        # A server that closes before it has read everything resets the connection.
        with suppress(ConnectionResetError, BrokenPipeError):
            connection.sendall(request)
            while piece := connection.recv(65536):
                answer += piece
    return application, answer


@pytest.mark.slow(0.5)
def test_chunks_of_http_come_in_turns() -> None:
    application, answer = asked(_HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + _CODED)
    assert answer.endswith(b"\r\n\r\n100000")
    assert b"".join(application.pieces) == _CONTENT
    assert max(map(len, application.pieces)) < 4_000


@pytest.mark.slow(0.5)
def test_a_request_after_one_in_chunks_is_answered_too() -> None:
    first = _HEAD.replace(b"close", b"keep-alive") + b"Transfer-Encoding: chunked\r\n\r\n" + _CODED
    application, answer = asked(first + _HEAD + b"Content-Length: 100000\r\n\r\n" + _CONTENT)
    assert answer.count(b"HTTP/1.1 200") == 2
    assert answer.endswith(b"\r\n\r\n200000")
    assert b"".join(application.pieces) == _CONTENT * 2


@pytest.mark.slow(0.5)
def test_what_is_no_chunk_is_refused_in_the_middle() -> None:
    _, answer = asked(_HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + _CODED[: len(_CODED) // 2] + b"x" * 100_000)
    assert answer.startswith(b"HTTP/1.1 400") or answer == b""


def test_chunks_of_aws_are_decoded_in_turns(tmp_path: Path) -> None:
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def put() -> bytes:
        pending = [{"type": "http.request", "body": _CODED, "more_body": False}]

        async def next_piece() -> Any:
            return pending.pop()

        headers = [(b"content-encoding", b"aws-chunked")]
        with IncomingFile(str(tmp_path)) as new:
            beside = asyncio.ensure_future(others())
            got = await receive(Request({"type": "http", "headers": headers}, next_piece), new)
            beside.cancel()
            assert got.size == _CHUNKS
            return os.pread(new.descriptor, 2 * _CHUNKS, 0)

    assert asyncio.run(put()) == _CONTENT
    assert turns >= len(_CODED) // (64 << 10)
