"""Answers and bodies of invocations that are large, at a server in a process of its own."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from functools import partial

import pytest
from tests.unit.endpoint.served_endpoint import Served, serve
from tests.unit.report.conftest import StoredJob

from smlocal.base.unix_sockets import listen_at
from smlocal.jobs.store.jobs import Store
from smlocal.sagemaker.serving import facts
from smlocal.sagemaker.serving.address import socket_path

BEGIN = "POST /endpoints/here/invocations HTTP/1.1\r\nHost: localhost\r\n"
ASKED = f"{BEGIN}Content-Length: 1\r\n\r\nx".encode()
KIB = 1 << 10
LARGE = 1 << 20


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serve(tmp_path_factory.mktemp("invoked")) as server, Store.open(str(server.home)) as store:
        job = StoredJob(store=store, name="here", platform=facts.NAME)
        lease = job.create()
        job.train()
        yield server
        lease.release()
        assert "Traceback" not in server.said()


def asked(connection: socket.socket) -> bool:
    """Reads one request; False if no other comes."""
    got = b""
    while not got.endswith(b"\r\n\r\nx"):
        piece = connection.recv(LARGE)
        if not piece:
            return False
        got += piece
    return True


def ended(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def all_ended(connections: list[socket.socket]) -> None:
    for each in connections:
        ended(each)


@pytest.fixture
def supervisor(server: Served) -> Iterator[Callable[[bytes], threading.Event]]:
    """What listens in the folder of the job. It answers with these bytes, and ends the connection when it may."""
    with ExitStack() as stack:
        path = socket_path(str(server.home / "jobs" / "here"))
        listener = stack.enter_context(listen_at(path))
        end = threading.Event()
        stack.callback(end.set)
        accepted: list[socket.socket] = []
        stack.callback(all_ended, accepted)  # the server keeps those that are free

        def answer(made: socket.socket, sent: bytes) -> None:
            breaks_off = len(sent) < LARGE
            with closing(made), suppress(OSError):
                while asked(made):
                    made.sendall(sent)
                    if breaks_off:
                        end.wait()
                        return

        def accept(sent: bytes) -> None:
            with suppress(OSError):
                while True:
                    made = listener.accept()[0]
                    accepted.append(made)
                    threading.Thread(target=answer, args=(made, sent), daemon=True).start()

        def begin(sent: bytes) -> threading.Event:
            threading.Thread(target=partial(accept, sent), daemon=True).start()
            stack.callback(ended, listener)
            return end

        yield begin


def head(length: int) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\nContent-Length: %d\r\n\r\n" % length


def connected(server: Served) -> "closing[socket.socket]":
    return closing(socket.create_connection(("127.0.0.1", server.port), timeout=200))


def received(connection: socket.socket, size: float = float("inf")) -> bytes:
    """At least so many bytes, or all."""
    got = b""
    while len(got) < size and (piece := connection.recv(1 << 16)):
        got += piece
    return got


@pytest.mark.slow(0.5)
def test_an_answer_is_passed_on_before_its_end(server: Served, supervisor: Callable[[bytes], threading.Event]) -> None:
    end = supervisor(head(LARGE) + bytes(100 * KIB))
    with connected(server) as client:
        client.sendall(ASKED)
        got = received(client, 64 * KIB)
        assert got.startswith(b"HTTP/1.1 200 ")
        assert b"\r\ncontent-length: %d\r\n" % LARGE in got.lower()
        end.set()
        assert len(received(client)) < LARGE


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("length", [64 * KIB, LARGE])
def test_one_that_breaks_off_at_its_beginning_is_an_error(
    server: Served, supervisor: Callable[[bytes], threading.Event], length: int
) -> None:
    supervisor(head(length) + bytes(63 * KIB)).set()
    with connected(server) as client:
        client.sendall(ASKED)
        assert received(client, 12).startswith(b"HTTP/1.1 503")


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("expects", ["Expect: 100-continue\r\n", ""])
def test_a_body_that_states_too_much_is_refused_before_it_comes(server: Served, expects: str) -> None:
    with connected(server) as client:
        client.sendall(f"{BEGIN}Content-Length: 99999999\r\n{expects}\r\n".encode())
        answer = received(client, 12)
        assert answer.startswith(b"HTTP/1.1 413"), answer
        if not expects:  # it is in the middle of sending it
            client.sendall(bytes(99_999_999))
        answer += received(client)
        assert b"\r\nconnection: close\r\n" in answer.lower()
        assert b"has exceeded the upper limit of 26214400 bytes" in answer
