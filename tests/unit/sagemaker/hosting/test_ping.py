"""Whether a container is healthy."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, cast

import pytest

from smlocal.jobs.host.host_run import HostRun
from smlocal.jobs.planning.aspects.serving.plan import ServerPlan
from smlocal.sagemaker.hosting.servers import Server, ping, ports_taken


@pytest.fixture
def answering() -> Iterator[Callable[[bytes | None], tuple[str, int]]]:
    """Listens and answers each connection with these bytes; None: never."""
    sockets: list[socket.socket] = []

    def listen(answer: bytes | None) -> tuple[str, int]:
        listener = socket.create_server(("127.0.0.1", 0))
        sockets.append(listener)

        def serve() -> None:
            connection, _ = listener.accept()
            sockets.append(connection)
            connection.recv(1000)
            if answer is not None:
                with suppress(OSError):  # the other side has read enough, and is gone
                    connection.sendall(answer)
                    connection.shutdown(socket.SHUT_WR)

        threading.Thread(target=serve, daemon=True).start()
        address: tuple[str, int] = listener.getsockname()
        return address

    yield listen
    for each in sockets:
        each.close()


@pytest.mark.parametrize(
    ("answer", "trouble"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", None),
        (b"HTTP/1.0 200\r\n\r\n", None),
        (b"HTTP/1.1 503 Busy\r\n\r\n", "/ping answered 503"),
        (b"SSH-2.0\r\n", "what answers /ping is not an HTTP server"),
        (b"", "what answers /ping is not an HTTP server"),
    ],
)
def test_only_200_is_healthy(answering: Any, answer: bytes, trouble: str | None) -> None:
    assert ping(answering(answer), seconds=60) == trouble


def test_silence_is_not_healthy(answering: Any) -> None:
    assert ping(answering(None), seconds=0.1) == "no answer to /ping within 0.1 s"


def test_nothing_that_listens_is_not_healthy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = free.getsockname()
    trouble = ping(address, seconds=60)
    assert trouble == f"nothing can be reached at port {address[1]}: Connection refused"


def test_nothing_is_started_if_another_program_has_a_port() -> None:
    """In a place with one table of ports, that program would answer the pings."""
    with socket.create_server(("127.0.0.1", 0)) as taken, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        ports = [each.getsockname()[1] for each in (free, taken)]
        plans = [ServerPlan(variant="V", instance=1, called="c", number=1, port=port, startup=1.0) for port in ports]
        servers = [Server(run=cast("HostRun", None), plan=each) for each in plans]
        errors = ports_taken(servers)
        assert [str(errors[number]) for number in range(2)] == [
            f"another program uses port {ports[1]} of this machine"
        ] * 2
        assert ports_taken(servers[:1]) == {}
