"""Heads of requests at their limit, and above it in every way in which one may come."""

import socket
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

import pytest

LIMIT = 64 << 10
AUTHORIZATION = "AWS4-HMAC-SHA256 Credential=k/20261123/us-east-1/s3/aws4_request"
START = f"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: {AUTHORIZATION}\r\n"


@pytest.fixture
def port(endpoint: Any) -> int:
    return urlsplit(endpoint.address).port or 0


def head(size: int, *, filling: str = "x", of: str = "X-Filling: ") -> bytes:
    """One of so many bytes."""
    rest = size - len(START) - len(of) - len("1\r\n\r\n")
    return f"{START}{of}{filling * rest}1\r\n\r\n".encode()


def exchange(connection: socket.socket, *pieces: bytes, answers: int = 1) -> list[int]:
    """The statuses of so many answers, or of those before the server has closed the connection."""
    got = b""
    try:
        for piece in pieces:
            connection.sendall(piece)
        while got.count(b"HTTP/1.1 ") < answers or not got.endswith((b">", b"long", b"}", b"headers", b"\n\r\n")):
            piece = connection.recv(1 << 16)
            if not piece:
                break
            got += piece
    except ConnectionError:
        pass
    return [int(each[:3]) for each in got.split(b"HTTP/1.1 ")[1:]]


def connected(port: int) -> Any:
    return closing(socket.create_connection(("127.0.0.1", port), timeout=60))


def test_a_head_of_64_kib_is_answered_however_it_comes(endpoint: Any, port: int) -> None:
    whole = head(LIMIT)
    assert len(whole) == LIMIT
    for step in (LIMIT, 4096, 4097, 60_000):
        with connected(port) as connection:
            for _ in range(3):  # even as a later request of a connection
                assert exchange(connection, *(whole[at : at + step] for at in range(0, LIMIT, step))) == [200]
    assert endpoint.said == []


@pytest.mark.parametrize("size", [LIMIT + 1, 70_000, 200_000])
@pytest.mark.parametrize("step", [1 << 20, 16_384, 65_535])
def test_a_longer_one_is_refused(endpoint: Any, port: int, size: int, step: int) -> None:
    for whole in (head(size), head(size, filling=" ", of="X-Spaces:"), head(size, filling="a: b\r\n", of="")):
        with connected(port) as connection:
            assert exchange(connection, head(1000)) == [200]
            assert exchange(connection, *(whole[at : at + step] for at in range(0, size, step))) in ([431], [])
    assert endpoint.said == []


def test_a_long_target_counts(endpoint: Any, port: int) -> None:
    with connected(port) as connection:
        assert exchange(connection, START.replace("/ ", f"/?prefix={'x' * LIMIT} ").encode() + b"\r\n") in ([431], [])
    assert endpoint.said == []


def test_a_longer_one_behind_another_request_is_refused(endpoint: Any, port: int) -> None:
    with connected(port) as connection:
        assert exchange(connection, head(1000) + head(70_000), answers=2) == [200, 431]
    assert endpoint.said == []


def test_bodies_are_no_heads(endpoint: Any, port: int) -> None:
    s3 = endpoint.client("s3")
    s3.create_bucket(Bucket="data")
    put = START.replace("GET /", "PUT /data/k").encode() + b"Content-Length: 300000\r\n\r\n" + b"x" * 300_000
    with connected(port) as connection:
        assert exchange(connection, put) == [200]
        assert exchange(connection, put[:3000], put[3000:]) == [200]
        assert exchange(connection, head(LIMIT)) == [200]
    assert s3.head_object(Bucket="data", Key="k")["ContentLength"] == 300_000
