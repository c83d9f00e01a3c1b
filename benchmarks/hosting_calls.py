"""Invocations of an endpoint against the same bytes by HTTP to its container: one after another, 50 at once, in chunks.

The server is that of the tests, on `http.server`; it answers with what it was sent.
"""

import asyncio
import http.client
import socket
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from statistics import median
from typing import Any

import boto3
from botocore.config import Config
from hosting_place import Deployed, deployed
from measure import Samples, alternate
from results import Figure, Size, main, spread
from workplace import workplace

P50_BOUND = 2.5
MORE_BOUND = 0.003
RATE_BOUND = 0.5
FIRST_BYTE_BOUND = 1.3
_BODY = b"0.123456," * 113 + b"1234567"
_CALLS = 200
"""A value is the median of so many."""
_MANY = 10_000
_CLIENTS = 50
_STREAMS = 30


def measure(size: Size) -> list[Figure]:
    with workplace() as place, deployed(place) as one:
        return [*_latency(size, one), *_rate(size, one)]


def measure_streaming(size: Size) -> list[Figure]:
    with workplace() as place, deployed(place, "--env", "ANSWER=ticks") as one:
        ours, theirs = alternate(
            lambda: _first_byte(one.host, one.port, one.path),
            lambda: _first_byte(one.container, 8080, "/invocations"),
            rounds=size.rounds,
            name="first byte",
        )
    return [_comparison("first byte of a streamed answer ÷ from the container", ours, theirs, FIRST_BYTE_BOUND)]


def _latency(size: Size, one: Deployed) -> list[Figure]:
    calls = size.of(_CALLS)
    here, there = _Connection(one.host, one.port, one.path), _Connection(one.container, 8080, "/invocations")
    client, straight = _runtime(one), _runtime(one, container=True)

    def by(ask: Callable[[], None]) -> Callable[[], float]:
        return lambda: _median(calls, ask)

    def boto(each: Any) -> Callable[[], float]:
        return by(lambda: _invoke(each, one.name))

    with closing(here), closing(there):
        ours, direct = alternate(by(here.ask), by(there.ask), rounds=size.rounds, name="p50 by HTTP")
        invoked, alone = alternate(boto(client), boto(straight), rounds=size.rounds, name="p50 by boto3")
        literal, again = alternate(boto(client), by(there.ask), rounds=size.rounds, name="p50 by boto3 and by HTTP")
    more = literal.median - again.median
    return [
        _comparison("p50 of 1 KB by `http.client`: our address ÷ the container", ours, direct, P50_BOUND),
        _comparison(
            "p50 of 1 KB by boto3's `invoke_endpoint`: our address ÷ its request sent to the container",
            invoked,
            alone,
            P50_BOUND,
        ),
        _comparison(
            "p50 of 1 KB: `invoke_endpoint` at our address ÷ `http.client` to the container", literal, again, P50_BOUND
        ),
        Figure(
            what="the same: how much more",
            ours=spread(literal, _milliseconds),
            theirs=spread(again, _milliseconds),
            figure=_milliseconds(more),
            bound=_milliseconds(MORE_BOUND),
            met=more <= MORE_BOUND,
        ),
    ]


def _rate(size: Size, one: Deployed) -> list[Figure]:
    count = max(_CLIENTS, size.of(_MANY) // _CLIENTS * _CLIENTS)
    answered: list[int] = []

    def ours() -> float:
        seconds, right = asyncio.run(_at_once(one.host, one.port, one.path, count))
        answered.append(right)
        return count / seconds

    def theirs() -> float:
        seconds, _ = asyncio.run(_at_once(one.container, 8080, "/invocations", count))
        return count / seconds

    here, there = alternate(ours, theirs, rounds=size.rounds, name=f"{count} invocations")
    ratio = here.median / there.median
    return [
        Figure(
            what=f"{count} invocations by {_CLIENTS} clients at once: answered, each client's in order",
            ours=f"{min(answered)} (the worst of the rounds)",
            theirs="",
            figure=str(min(answered)),
            bound=str(count),
            met=min(answered) == count,
        ),
        Figure(
            what="the same: invocations a second ÷ to the container (at least)",
            ours=spread(here, _a_second),
            theirs=spread(there, _a_second),
            figure=f"{ratio:.2f}",
            bound=f"{RATE_BOUND:g}",
            met=ratio >= RATE_BOUND,
        ),
    ]


def _request(host: str, path: str, body: bytes) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: text/csv\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


class _Connection(http.client.HTTPConnection):
    """One that is kept; it checks that the answer is what was sent."""

    def __init__(self, host: str, port: int, path: str) -> None:
        super().__init__(host, port, timeout=60)
        self._path = path

    def ask(self) -> None:
        self.request("POST", self._path, body=_BODY, headers={"Content-Type": "text/csv"})
        answer = self.getresponse()
        body = answer.read()
        assert body == _BODY, (answer.status, body[:200])


async def _at_once(host: str, port: int, path: str, count: int) -> tuple[float, int]:
    """Seconds for so many, by clients that each wait for an answer before they ask again; and how many were right."""
    share = count // _CLIENTS
    connections = [await asyncio.open_connection(host, port) for _ in range(_CLIENTS)]
    asked = partial(_request, host, path)
    began = time.perf_counter()
    right = await asyncio.gather(*(_client(each, asked, number, share) for number, each in enumerate(connections)))
    took = time.perf_counter() - began
    for _, writer in connections:
        writer.close()
    return took, sum(right)


async def _client(
    connection: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    request: Callable[[bytes], bytes],
    number: int,
    count: int,
) -> int:
    (reader, writer), right = connection, 0
    for each in range(count):
        body = (b"%d-%d," % (number, each)).ljust(len(_BODY), b"x")
        writer.write(request(body))
        head = await reader.readuntil(b"\r\n\r\n")
        right += head.startswith(b"HTTP/1.1 200 ") and await reader.readexactly(len(body)) == body
    return right


def _first_byte(host: str, port: int, path: str) -> float:
    """The median of the seconds until the first byte of the body, each on a new connection."""

    def once() -> float:
        with socket.create_connection((host, port), timeout=60) as connection:
            began = time.perf_counter()
            connection.sendall(_request(host, path, _BODY))
            got = b""
            while b"part 0" not in got:
                got += connection.recv(65536)
            took = time.perf_counter() - began
            while not got.endswith(b"0\r\n\r\n"):
                got += connection.recv(65536)
        return took

    return median(once() for _ in range(_STREAMS))


def _runtime(one: Deployed, *, container: bool = False) -> Any:
    """A client of the endpoint; `container`: its requests are sent to the container instead."""
    session = boto3.Session(aws_access_key_id="key", aws_secret_access_key="secret", region_name="us-east-1")
    address = f"http://{one.host}:{one.port}"
    client = session.client("sagemaker-runtime", endpoint_url=address, config=Config(retries={"max_attempts": 0}))
    if container:

        def redirect(request: Any, **_: object) -> None:
            request.url = f"http://{one.container}:8080/invocations"

        client.meta.events.register("before-send.sagemaker-runtime.InvokeEndpoint", redirect)
    return client


def _invoke(client: Any, name: str) -> None:
    answer = client.invoke_endpoint(EndpointName=name, Body=_BODY, ContentType="text/csv")
    assert answer["Body"].read() == _BODY


def _median(calls: int, call: Any) -> float:
    took = []
    for _ in range(calls):
        began = time.perf_counter()
        call()
        took.append(time.perf_counter() - began)
    return median(took)


def _comparison(what: str, ours: Samples, theirs: Samples, bound: float) -> Figure:
    ratio = ours.median / theirs.median
    return Figure(
        what=what,
        ours=spread(ours, _milliseconds),
        theirs=spread(theirs, _milliseconds),
        figure=f"{ratio:.2f}",
        bound=f"{bound:g}",
        met=ratio <= bound,
    )


def _milliseconds(value: float) -> str:
    return f"{value * 1000:.2f} ms"


def _a_second(value: float) -> str:
    return f"{value:.0f}/s"


if __name__ == "__main__":
    main(measure, measure_streaming)
