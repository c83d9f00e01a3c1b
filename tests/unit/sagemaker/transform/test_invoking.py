"""Requests to a container, whose answers are written byte by byte here."""

import json
import select
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from threading import Barrier, current_thread
from typing import Any

import pytest

from smlocal.sagemaker.transform import facts
from smlocal.sagemaker.transform.container_connection import CancelledError
from smlocal.sagemaker.transform.invoking import InvocationError, Invoker, Spool, Workers

Serving = Callable[[Callable[[socket.socket], None]], "Served"]
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
MEBIBYTE = 1 << 20


class Served:
    """A server that does the same with each connection."""

    def __init__(self, script: Callable[[socket.socket], None], folder: Path) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.connections = 0
        self._script, self._folder = script, folder
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def invoker(self, **more: Any) -> Invoker:
        given: dict[str, Any] = {"headers": {}, "seconds": 100, "retries": 0, "folder": str(self._folder), **more}
        return Invoker(address=self.listener.getsockname, **given)

    def close(self) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for each in self._threads:
            each.join()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                self.connections += 1
                thread = threading.Thread(target=self._serve, args=(connection,))
                thread.start()
                self._threads.append(thread)

    def _serve(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            self._script(connection)


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Serving]:
    made: list[Served] = []

    def serve(script: Callable[[socket.socket], None]) -> Served:
        made.append(Served(script, tmp_path))
        return made[-1]

    yield serve
    for each in made:
        each.close()


def request(connection: socket.socket) -> bytes:
    """A whole request with a stated length; empty at the end."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65_536)
        if not piece:
            return b""
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = [int(line.split()[1]) for line in head.splitlines() if line.lower().startswith(b"content-length:")]
    while lengths and len(body) < lengths[0]:
        body += connection.recv(65_536)
    return head + b"\r\n\r\n" + body


def invoked(invoker: Invoker, payload: Any = b"x", **more: Any) -> bytes:
    with closing(invoker), invoker.invoke(payload, **more) as answer:
        return answer.read()


@pytest.mark.parametrize(
    ("first", "again"),
    [
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\n", b"X-More: 1\r\n"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        (b"HTTP/1.1 500 Oops\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        (b"", b""),
    ],
    ids=["continue", "headers", "body", "error", "nothing"],
)
def test_an_answer_without_an_end_is_cut_off(serving: Serving, first: bytes, again: bytes) -> None:
    def forever(connection: socket.socket) -> None:
        request(connection)
        connection.sendall(first)
        while not select.select([connection], [], [], 0.05)[0]:  # until the other side closes it
            connection.sendall(again)

    with pytest.raises(
        InvocationError, match=r"Model server did not respond to /invocations request within 0\.3 seconds"
    ):
        invoked(serving(forever).invoker(seconds=0.3))
    with pytest.raises(InvocationError, match=r"within 0\.3 seconds"):
        invoked(serving(forever).invoker(seconds=0.3), b"x" * MEBIBYTE)


def test_continue_as_fast_as_it_can_be_sent_is_cut_off(serving: Serving) -> None:
    def flood(connection: socket.socket) -> None:
        while True:
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000)

    with pytest.raises(InvocationError, match=r"within 0\.3 seconds"):
        invoked(serving(flood).invoker(seconds=0.3))


def test_a_container_may_answer_before_it_has_the_request(serving: Serving) -> None:
    """It sends back what it reads, and reads no more than it can send."""
    size = 32 * MEBIBYTE

    def echo(connection: socket.socket) -> None:
        data = connection.recv(65_536).partition(b"\r\n\r\n")[2]
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        while data or (data := connection.recv(65_536)):
            connection.sendall(data)
            data = b""

    assert invoked(serving(echo).invoker(), b"x" * size) == b"x" * size


def test_a_refusal_is_heard_while_the_request_is_sent(serving: Serving) -> None:
    """The container neither reads the rest nor closes the connection."""

    def refuse(connection: socket.socket) -> None:
        connection.recv(1000)
        connection.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig")
        refused.wait(100)

    refused = threading.Event()
    with pytest.raises(InvocationError) as error:
        invoked(serving(refuse).invoker(), b"x" * (32 * MEBIBYTE))
    refused.set()
    assert (error.value.lines, error.value.client) == (["ClientError: 413", "", "Message:", "big"], True)


def test_a_connection_is_used_again(serving: Serving) -> None:
    def answer(connection: socket.socket) -> None:
        while request(connection):
            connection.sendall(OK)

    served = serving(answer)
    with closing(served.invoker()) as invoker:
        for _ in range(3):
            with invoker.invoke(b"x") as whole:
                assert whole.read() == b"ok"
    assert served.connections == 1


@pytest.mark.parametrize("answer", [OK, OK.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")])
def test_a_connection_that_ends_after_its_answer_is_replaced(serving: Serving, answer: bytes) -> None:
    def once(connection: socket.socket) -> None:
        request(connection)
        connection.sendall(answer)

    served = serving(once)
    with closing(served.invoker()) as invoker:
        for _ in range(3):
            with invoker.invoke(b"x") as whole:
                assert whole.read() == b"ok"
    assert served.connections == 3


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort",
        b"not HTTP\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 70_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
    ids=["nothing", "short", "not HTTP", "a long head", "not chunks"],
)
def test_what_is_no_answer_is_tried_again(serving: Serving, answer: bytes) -> None:
    def say(connection: socket.socket) -> None:
        request(connection)
        connection.sendall(answer)

    served = serving(say)
    with pytest.raises(InvocationError, match=facts.NO_ANSWER):
        invoked(served.invoker(retries=2))
    assert served.connections == 3


def test_an_answer_that_is_to_be_parsed_has_a_limit(serving: Serving) -> None:
    def much(connection: socket.socket) -> None:
        request(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            connection.sendall(b"x" * MEBIBYTE)

    served = serving(much)
    with pytest.raises(InvocationError, match="more than 1 MB, and is too large to be filtered or joined"):
        invoked(served.invoker(most=MEBIBYTE, retries=3))
    assert served.connections == 1


def test_requests_end_when_the_job_is_stopped(serving: Serving) -> None:
    arrived = threading.Event()

    def mute(connection: socket.socket) -> None:
        request(connection)
        arrived.set()
        connection.recv(1)

    ended: list[BaseException] = []

    def ask() -> None:
        try:
            invoker.invoke(b"x")
        except CancelledError as error:
            ended.append(error)

    with closing(serving(mute).invoker()) as invoker:
        thread = threading.Thread(target=ask)
        thread.start()
        assert arrived.wait(100)
        invoker.cancel()
        thread.join()
        assert len(ended) == 1
        with pytest.raises(CancelledError):
            invoker.invoke(b"x")
    invoker.cancel()  # also when it is closed


def test_headers_are_sent_in_utf_8(serving: Serving) -> None:
    seen: list[bytes] = []

    def answer(connection: socket.socket) -> None:
        seen.append(request(connection))
        connection.sendall(OK)

    assert invoked(serving(answer).invoker(headers={"Content-Type": "text/csv; x=☃"})) == b"ok"
    assert b"\r\nContent-Type: text/csv; x=\xe2\x98\x83\r\n" in seen[0]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b'{"MaxPayloadInMB": 2}', {"MaxPayloadInMB": 2}),
        (b"[" * 60_000, None),
        (b"[1]", None),
        (b"oops", None),
        (b'{"a": "' + b"x" * 70_000 + b'"}', None),
        (b"\xff", None),
    ],
    ids=["good", "nested", "a list", "not JSON", "large", "not UTF-8"],
)
def test_parameters_that_are_no_object_do_not_count(serving: Serving, body: bytes, found: Any) -> None:
    def say(connection: socket.socket) -> None:
        request(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))

    with closing(serving(say).invoker()) as invoker:
        assert invoker.parameters() == found


def test_parameters_may_be_unknown(serving: Serving) -> None:
    def say(connection: socket.socket) -> None:
        request(connection)
        connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n" + json.dumps({}).encode())

    with closing(serving(say).invoker()) as invoker:
        assert invoker.parameters() == {}


@pytest.mark.parametrize("pieces", [[b""], [b"a" * 262_144], [b"a" * 262_144, b"b"], [b"a", b"b" * 300_000, b"c"]])
def test_a_large_answer_is_in_a_file_without_a_name(pieces: list[bytes], tmp_path: Path) -> None:
    spool = Spool(str(tmp_path))
    for piece in pieces:
        spool.write(piece)
    with spool.whole() as whole:
        assert whole.read() == b"".join(pieces)
        assert hasattr(whole, "getbuffer") is (sum(map(len, pieces)) <= 262_144)
        assert not list(tmp_path.iterdir())


def test_workers_are_started_when_all_others_are_busy() -> None:
    names: list[str] = []
    together = Barrier(3)

    def work() -> None:
        names.append(current_thread().name)
        together.wait(60)

    with Workers(2, name="asks") as workers:
        for _ in range(2):
            workers.give(work)
        together.wait(60)
        for _ in range(2):
            workers.give(work)
        together.wait(60)
    assert {*names} == {"asks-0", "asks-1"}
    assert len(names) == 4


def test_everything_is_done_before_the_first_error_is_raised() -> None:
    done: list[int] = []

    def fail(number: int) -> None:
        done.append(number)
        raise KeyError(number)

    def give_three() -> None:
        with Workers(1, name="asks") as workers:
            for number in range(3):
                workers.give(partial(fail, number))

    with pytest.raises(KeyError, match="0"):
        give_three()
    assert done == [0, 1, 2]


def test_no_work_needs_no_thread() -> None:
    with Workers(1, name="asks") as workers:
        pass
    assert not workers._threads
