"""Engines that hang, dawdle or never stop: every call has an end, in time and in size."""

import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Final

import pytest
from tests.kit import until

from smlocal.engine.client import Client
from smlocal.engine.docker import DockerEngine
from smlocal.engine.endpoint import EngineAddress
from smlocal.engine.http import VARIABLE, Timeouts, chosen_timeouts
from smlocal.errors import (
    EngineAnswerError,
    EngineLostError,
    EngineTimeoutError,
    EngineUnreachableError,
    UsageRefusedError,
)

PING: Final = b"HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nServer: Docker/20.10.24\r\nContent-Length: 2\r\n\r\nOK"
HEAD: Final = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
SHORT: Final = Timeouts(lost=1.2)
THERE: Final = Timeouts(lost=3)
"""For an engine that answers in time when it is asked whether it is there, also on a busy machine."""
Answer = Callable[[socket.socket], None]


class Server:
    """Answers `/_ping` for as long as it may, and everything else as a test says."""

    def __init__(self, path: Path, rest: Answer) -> None:
        self.path = str(path)
        self.pings = 1_000_000
        self.asked: list[str] = []
        self._rest = rest
        self._open: list[socket.socket] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self.path)
        self._listener.listen(64)
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def engine(self) -> DockerEngine:
        engine = DockerEngine(EngineAddress(address=f"unix://{self.path}", path=self.path))
        engine.client = Client(engine.client.endpoint, timeouts=SHORT)
        return engine

    def close(self) -> None:
        for each in (self._listener, *self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self._open.append(connection)
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with suppress(OSError):
            request = connection.recv(65536).partition(b"\r\n")[0].decode()
            self.asked.append(request)
            if "/_ping" not in request:
                self._rest(connection)
            elif self.pings > 0:
                self.pings -= 1
                connection.sendall(PING)


@pytest.fixture
def serve(short_folder: Path) -> Iterator[Callable[..., Server]]:
    servers: list[Server] = []

    def start(rest: Answer) -> Server:
        servers.append(Server(short_folder / f"{len(servers)}.sock", rest))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def silent(connection: socket.socket) -> None:
    del connection


def trickling(connection: socket.socket) -> None:
    connection.sendall(HEAD)
    while True:
        connection.sendall(b"1\r\n[\r\n")
        time.sleep(0.02)


def endless(connection: socket.socket) -> None:
    connection.sendall(HEAD)
    piece = b"%x\r\n%b\r\n" % (1 << 20, b" " * (1 << 20))
    while True:
        connection.sendall(piece)


def garbage(connection: socket.socket) -> None:
    connection.sendall(b"\x00\xff\n" * 1000)


def answering(body: bytes) -> Answer:
    return lambda connection: connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))


CALLS: Final[dict[str, Callable[[DockerEngine], object]]] = {
    "image": lambda engine: engine.image("i"),
    "volume": lambda engine: engine.create_volume("v", {}, {}),
    "networks": lambda engine: engine.networks(),
    "attach": lambda engine: engine.attach("c"),
    "start": lambda engine: engine.start("c"),
    "wait": lambda engine: engine.wait("c"),
    "state": lambda engine: engine.state("c"),
    "statistics": lambda engine: engine.statistics("c"),
    "signal": lambda engine: engine.signal("c", "SIGTERM"),
    "logs": lambda engine: list(engine.logs("c")),
    "owned": lambda engine: engine.owned("j"),
    "pull": lambda engine: engine.pull("i", None, lambda _: None),
    "get": lambda engine: b"".join(engine.get_archive("c", "/")),
    "put": lambda engine: engine.put_archive("c", "/", bytes(1 << 10)),
}


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("call", CALLS)
def test_an_engine_that_hangs_after_its_greeting_is_lost(serve: Callable[..., Server], call: str) -> None:
    server = serve(silent)
    server.pings = 1
    engine = server.engine
    engine.client.timeouts = Timeouts()  # a busy machine may greet slowly
    engine.client.greet()
    engine.client.timeouts = SHORT
    with pytest.raises(EngineLostError, match="stopped answering") as caught:
        CALLS[call](engine)
    assert not isinstance(caught.value, EngineTimeoutError)
    # It was asked whether it is there; nothing else is sent until it has said so.
    assert any("/_ping" in request for request in server.asked[1:])
    asked = len(server.asked)
    with pytest.raises(EngineLostError):
        engine.signal("c", "SIGTERM")
    assert len(server.asked) == asked


@pytest.mark.slow
@pytest.mark.parametrize("call", ["image", "volume", "state", "signal", "owned", "start"])
@pytest.mark.parametrize("rest", [silent, trickling])
def test_an_engine_that_is_there_but_slow_is_not_waited_for_without_end(
    serve: Callable[..., Server], call: str, rest: Answer
) -> None:
    engine = serve(rest).engine
    engine.client.timeouts = THERE
    with pytest.raises(EngineTimeoutError, match=r"did not complete \w+ /\S+ \(no (complete )?answer within") as caught:
        CALLS[call](engine)
    assert VARIABLE in caught.value.remedy[0]


@pytest.mark.slow(0.5)
def test_an_engine_that_was_lost_is_met_again(serve: Callable[..., Server]) -> None:
    server = serve(silent)
    server.pings = 1
    engine = server.engine
    with pytest.raises(EngineLostError):
        engine.state("c")
    server.pings = 1_000_000
    server._rest = answering(b'{"State": {"Status": "running"}}')

    def answers() -> bool:
        with suppress(EngineLostError):
            return engine.state("c").status == "running"
        return False

    until(answers)


@pytest.mark.parametrize("call", ["image", "volume", "state", "statistics", "owned", "networks"])
def test_an_endless_answer_is_not_held(serve: Callable[..., Server], call: str) -> None:
    engine = serve(endless).engine
    engine.client.timeouts = Timeouts(lost=600)  # by its size, however long it would be read
    with pytest.raises(EngineAnswerError, match=r"unexpected answer .*more than 64 MiB"):
        CALLS[call](engine)


def test_an_endless_line_of_a_pull_is_not_held(serve: Callable[..., Server]) -> None:
    with pytest.raises(EngineAnswerError, match="a line of more than 4 MiB"):
        CALLS["pull"](serve(endless).engine)


@pytest.mark.parametrize("call", CALLS)
def test_garbage_is_no_answer(serve: Callable[..., Server], call: str) -> None:
    with pytest.raises(EngineLostError, match="stopped answering"):
        CALLS[call](serve(garbage).engine)


@pytest.mark.parametrize("body", [b"{}", b"[]", b"null", b'"x"', b"[1]", b'{"State": 1}', b"{"])
@pytest.mark.parametrize("call", ["volume", "wait", "state", "networks", "owned"])
def test_a_document_of_another_shape_is_an_error_of_the_engine(
    serve: Callable[..., Server], call: str, body: bytes
) -> None:
    if (call, body) in {("networks", b"[]"), ("networks", b"{}")}:
        return  # nothing is wrong with that
    with pytest.raises(EngineAnswerError, match="unexpected answer"):
        CALLS[call](serve(answering(body)).engine)


@pytest.mark.slow(0.5)
def test_before_the_greeting_it_is_not_there(serve: Callable[..., Server]) -> None:
    for rest in (silent, trickling, garbage):
        server = serve(rest)
        server.pings = 0
        with pytest.raises(EngineUnreachableError):
            server.engine.facts()


class Container:
    """An engine's report about a container, and a wait that is never answered."""

    def __init__(self) -> None:
        self.status = "running"

    def __call__(self, connection: socket.socket, request: str) -> None:
        if "/json" in request:
            body = b'{"State": {"Status": "%b", "ExitCode": 3}}' % self.status.encode()
            answering(body)(connection)


@pytest.mark.slow
def test_the_end_of_a_container_is_seen_when_nobody_tells_it(
    serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody between us and the engine has forgotten the connection."""
    container = Container()

    def answer(server: Server, connection: socket.socket) -> None:
        request = connection.recv(65536).partition(b"\r\n")[0].decode()
        server.asked.append(request)
        if "/_ping" in request:
            connection.sendall(PING)
        else:
            container(connection, request)

    monkeypatch.setattr(Server, "_answer", answer)
    server = serve(silent)
    engine = server.engine
    engine.client.timeouts = THERE
    codes: list[int] = []
    waiter = threading.Thread(target=lambda: codes.append(engine.wait("c")), daemon=True)
    waiter.start()
    waiter.join(2)  # passes: the container runs
    assert waiter.is_alive()  # for as long as it runs
    container.status = "exited"
    waiter.join(200)
    assert codes == [3]
    assert sum("/wait" in request for request in server.asked) == 1


@pytest.mark.slow(0.5)
def test_a_body_that_nobody_takes_is_given_up(serve: Callable[..., Server]) -> None:
    server = serve(silent)
    server.pings = 1
    with pytest.raises(EngineLostError, match="stopped answering"):
        server.engine.put_archive("c", "/", (bytes(1 << 20) for _ in range(1000)))


def test_the_kernel_watches_connections_of_the_network() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with EngineAddress(address="tcp://", host="127.0.0.1", port=port).connect() as connection:
            assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
            if sys.platform == "linux":
                after = socket.TCP_KEEPIDLE
            else:
                after = socket.TCP_KEEPALIVE
            idle, interval, count = (
                connection.getsockopt(socket.IPPROTO_TCP, option)
                for option in (after, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT)
            )
            assert idle + interval * count <= 30


@pytest.mark.parametrize(("text", "seconds"), [("", 60), ("5", 5), (" 0.5 ", 0.5)])
def test_the_time_for_a_lost_engine_may_be_chosen(monkeypatch: pytest.MonkeyPatch, text: str, seconds: float) -> None:
    monkeypatch.setenv(VARIABLE, text)
    assert chosen_timeouts() == Timeouts(lost=seconds)


@pytest.mark.parametrize("text", ["soon", "0", "-1", "nan", "inf", "1e9", "1m"])
def test_a_time_that_is_none(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv(VARIABLE, text)
    with pytest.raises(UsageRefusedError, match="is not a number of seconds"):
        chosen_timeouts()


def test_the_output_of_a_container_may_take_any_time(
    serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    later = threading.Event()

    def attached(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n")
        later.wait(60)
        connection.sendall(b"\1\0\0\0\0\0\0\4yes\n")
        connection.shutdown(socket.SHUT_RDWR)

    engine = serve(attached).engine
    engine.client = Client(engine.client.endpoint)  # with the usual limits
    output = engine.attach("c")
    monkeypatch.setattr("smlocal.engine.http.time", SimpleNamespace(monotonic=lambda: time.monotonic() + 1e6))
    later.set()
    assert b"".join(written.lines for written in output) == b"yes\n"
