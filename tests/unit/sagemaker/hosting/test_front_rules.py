"""The rules of every address, at that of an endpoint: who is answered, in which form, how much, and for how long."""

import http.client
import os
import socket
import struct
import threading
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from tests.kit import until
from tests.unit.sagemaker.hosting.fronts import BEGIN, PATH, Server, ask

from smlocal.base import web
from smlocal.base.unix_sockets import connect_to
from smlocal.base.web import HeldBytes
from smlocal.sagemaker.hosting import exchange
from smlocal.sagemaker.hosting.front import Front
from smlocal.sagemaker.serving.route import Route, Step

MIB = 1 << 20
KEY = "Bearer secret"


def connected(front: Front) -> "closing[socket.socket]":
    return closing(socket.create_connection(("127.0.0.1", front.port), timeout=60))


def answer(connection: socket.socket) -> bytes:
    """The head of one, and what came with it."""
    got = b""
    while b"\r\n\r\n" not in got:
        piece = connection.recv(65_536)
        if not piece:
            break
        got += piece
    return got


def is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:80"},
        {"Host": "user@127.0.0.1"},
        {"Host": ""},
        {"Host": "localhost.evil.example"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"},
    ],
)
def test_a_page_of_another_site_is_not_answered(front: Any, headers: dict[str, str]) -> None:
    one, server = front()
    status, answered, body = ask(one, b"1", **headers)
    assert status == 403, body
    assert b"smlocal does not answer" in body
    assert answered["Connection"] == "close"
    assert server.seen == []


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "LocalHost:80", "[::1]:80", "an.endpoint.localhost"])
def test_names_of_this_machine_are_answered(front: Any, host: str) -> None:
    one, _ = front()
    assert ask(one, Host=host, Origin=f"http://{host}")[0] == 200


@pytest.mark.slow(0.5)
def test_no_browser_runs_what_a_container_has_answered(front: Any) -> None:
    one, _ = front(lambda c: c.answer(b"<script>", Content_Type="text/html", Content_Security_Policy="none"))
    for path, status in ((PATH, 200), ("/", 404)):
        found, headers, _ = ask(one, path=path)
        assert found == status
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "sandbox" in headers["Content-Security-Policy"]
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"


@pytest.mark.slow(0.5)
def test_only_who_has_the_key_is_answered(front: Any) -> None:
    one, server = front(key=KEY)
    for wrong in ({}, {"Authorization": "Bearer secre"}, {"Authorization": "Bearer \xe9"}, {"Authorization": ""}):
        status, _, body = ask(one, **wrong)
        assert status == 403, wrong
        assert b"this endpoint demands its key: smlocal describe here shows the curl option" in body
    assert server.seen == []
    assert ask(one, Authorization=KEY)[0] == 200
    ((_, passed, _),) = server.seen
    assert "authorization" not in {name.lower() for name in passed}


@pytest.mark.slow(0.5)
def test_who_is_refused_sends_no_body(front: Any) -> None:
    """The answer comes before the body, of which nothing is kept."""
    one, _ = front(key=KEY, most=MIB)
    with connected(one) as connection:
        connection.sendall(f"{BEGIN}Content-Length: {MIB}\r\nExpect: 100-continue\r\n\r\n".encode())
        assert answer(connection).startswith(b"HTTP/1.1 403 ")
        assert one.held.held == 0


@pytest.mark.slow(0.5)
def test_the_owner_needs_no_key(front: Any, tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 30)  # longer than the path of a socket may be
    folder.mkdir()
    path = folder / "invocations.socket"
    path.touch()  # one that a killed supervisor has left
    one, _ = front(key=KEY, owners_socket=str(path))
    assert path.stat().st_mode & 0o777 == 0o600
    for _ in range(2):
        connection = http.client.HTTPConnection("localhost", timeout=60)
        connection.sock = connect_to(str(path), seconds=60)
        with closing(connection):
            connection.request("POST", PATH, body=b"7")
            assert connection.getresponse().read() == b"7"
    one.close()
    assert not path.exists()


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(
    "lines",
    [
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: \x0bchunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 5",
        "Content-Length: 5\r\nContent-Length: 6",
        "Content-Length: 5, 5",
        "Transfer-Encoding:\r\n chunked",
        "X: a\r\n\tb\r\nContent-Length: 0",
        "X: a\nContent-Length: 0",
        "Host: evil.example\r\nContent-Length: 0",
        "Authorization: a\r\nAuthorization: b\r\nContent-Length: 0",
        "\r\n".join([f"X-{number}: 1" for number in range(201)]),
    ],
)
def test_what_could_be_read_in_two_ways_is_refused(front: Any, lines: str) -> None:
    one, server = front()
    with connected(one) as connection:
        connection.sendall(f"{BEGIN}{lines}\r\n\r\n0\r\n\r\n".encode("latin-1"))
        got = answer(connection)
        assert got.startswith(b"HTTP/1.1 400 "), got
        assert b"\r\nConnection: close\r\n" in got
    assert server.seen == []


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(
    "chunks", ["1;a\nb\r\nx\r\n0\r\n\r\n", "1;a\rb\r\nx\r\n0\r\n\r\n", "1\nx\n0\n\r\n", "0\r\nX: a\nb\r\n\r\n"]
)
def test_a_line_of_chunks_without_its_end_is_refused(front: Any, chunks: str) -> None:
    one, server = front()
    with connected(one) as connection:
        connection.sendall(f"{BEGIN}Transfer-Encoding: chunked\r\n\r\n{chunks}".encode())
        assert answer(connection).startswith(b"HTTP/1.1 400 ")
    assert server.seen == []


@pytest.mark.slow(0.5)
def test_chunks_are_not_of_http_1_0(front: Any) -> None:
    one, server = front()
    with connected(one) as connection:
        head = BEGIN.replace("1.1", "1.0")
        connection.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n".encode())
        assert answer(connection).startswith(b"HTTP/1.1 400 ")
    assert server.seen == []


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("version", ["HTTP/9.9", "HTTP/2.0", "HTTP/0.9", "http/1.1", "HTTP/1.1 x"])
def test_other_versions_are_refused(front: Any, version: str) -> None:
    one, server = front()
    with connected(one) as connection:
        connection.sendall(BEGIN.replace("HTTP/1.1", version).encode() + b"Content-Length: 0\r\n\r\n")
        assert answer(connection).startswith(b"HTTP/1.1 400 ")
    assert server.seen == []


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("sent", ["POST", f"{BEGIN}X: ", f"{BEGIN}Content-Length: 9\r\n\r\n1", f"{BEGIN}\r\nPOST"])
def test_what_does_not_come_in_time_is_cut_off(front: Any, monkeypatch: pytest.MonkeyPatch, sent: str) -> None:
    for limit in ("HEAD_SECONDS", "BODY_SECONDS", "IDLE_SECONDS"):
        monkeypatch.setattr(web, limit, 0.2)
    one, _ = front()
    with connected(one) as connection:
        connection.sendall(sent.encode())
        while not (got := answer(connection)).startswith(b"HTTP/1.1 408 "):
            assert got.startswith(b"HTTP/1.1 200 "), got
        assert is_closed(connection)
    until(lambda: one.clients == set())


@pytest.mark.slow(0.5)
def test_connections_that_carry_nothing_are_closed(front: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "IDLE_SECONDS", 0.2)
    one, _ = front()
    with connected(one) as connection:
        connection.sendall(f"{BEGIN}Content-Length: 1\r\n\r\n1".encode())
        assert answer(connection).startswith(b"HTTP/1.1 200 ")
        assert is_closed(connection)
    with connected(one) as silent:
        monkeypatch.setattr(web, "HEAD_SECONDS", 0.2)
        with connected(one) as other:
            assert is_closed(other)
        assert silent.fileno() > 0


@pytest.mark.slow(0.5)
def test_more_connections_than_may_be_open_are_closed(front: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "MOST_CONNECTIONS", 3)
    one, _ = front()
    with ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(connected(one))
        until(lambda: len(one.clients) == 3)
        with connected(one) as fourth:
            assert is_closed(fourth)
    until(lambda: one.clients == set())
    assert ask(one)[0] == 200


@pytest.fixture
def small(front: Any) -> Any:
    """Holds three bodies of a mebibyte."""
    return front(most=MIB, held=HeldBytes(3 * MIB))


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("chunked", [False, True])
def test_bodies_are_held_together_up_to_a_limit(small: tuple[Front, Server], *, chunked: bool) -> None:
    one, server = small
    length = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {MIB}"
    begun = b"%x\r\n" % MIB if chunked else b""
    rest, end = MIB - 100_000, b"\r\n0\r\n\r\n" if chunked else b""
    with ExitStack() as stack:
        clients = [stack.enter_context(connected(one)) for _ in range(8)]
        for each in clients:
            each.sendall(f"{BEGIN}{length}\r\n\r\n".encode() + begun + b"x" * 100_000)
        until(lambda: one.held.held == 3 * MIB)
        for each in clients:  # those that wait are not read: the kernel keeps what they send
            each.setblocking(True)
        for each in clients[:3]:
            each.sendall(b"x" * rest + end)
        for each in clients[:3]:
            assert answer(each).startswith(b"HTTP/1.1 200 ")
        until(lambda: one.held.held == 3 * MIB)  # it is the turn of the next
        for each in clients[3:6]:
            each.sendall(b"x" * rest + end)
            assert answer(each).startswith(b"HTTP/1.1 200 ")
    until(lambda: one.clients == set() and one.held.held == 0)
    assert {len(content) for _, _, content in server.seen} == {MIB}
    assert ask(one, b"y" * MIB)[0] == 200


@pytest.mark.slow(2)
@pytest.mark.linux("the memory of a process in /proc")
def test_two_hundred_partial_bodies_take_little_memory_and_give_it_back(front: Any) -> None:
    """Each of 6 MiB, without its end, and it is their client that goes."""
    one, _ = front(most=6 * MIB)
    before = _resident()
    with ExitStack() as stack:
        clients = [stack.enter_context(connected(one)) for _ in range(200)]
        for each in clients:
            each.setblocking(False)
            each.send(f"{BEGIN}Content-Length: {6 * MIB}\r\n\r\n".encode())
        content, sent = b"x" * (256 << 10), dict.fromkeys(clients, 0)
        for _ in range(40):
            for each in clients:
                if sent[each] + len(content) < 6 * MIB:
                    try:
                        sent[each] += each.send(content)
                    except BlockingIOError:
                        continue
        until(lambda: one.held.held == web.MOST_HELD)
        assert _resident() - before < 200 * MIB
    until(lambda: one.clients == set() and one.held.held == 0)
    until(lambda: _resident() - before < 30 * MIB)


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("value", ["a\x0bb", "a\x7fb", "a\x1b[31m"])
def test_a_header_that_cannot_be_passed_on_costs_no_answer(front: Any, value: str) -> None:
    one, _ = front(lambda c: c.answer(b"here", Content_Type=value))
    status, headers, body = ask(one)
    assert (status, body) == (200, b"here")
    assert headers["Content-Type"] is None


@pytest.mark.slow(1)
def test_a_client_that_reads_nothing_has_no_further_requests_taken(front: Any) -> None:
    one, server = front(most=2 * MIB)
    body = f"{BEGIN}Content-Length: {MIB}\r\n\r\n".encode() + b"x" * MIB
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(60)
        client.connect(("127.0.0.1", one.port))
        client.setblocking(False)
        waiting, blocked = body * 40, 0
        while waiting and blocked < 200:
            try:
                waiting = waiting[client.send(waiting[:MIB]) :]
                blocked = 0
            except BlockingIOError:
                blocked += 1
                threading.Event().wait(0.01)  # passes: the front has a turn
        assert len(waiting) > 20 * MIB  # the kernel's buffers have some, and no more is taken
        assert len(server.seen) < 10
        assert one.held.held <= 2 * MIB
        (connection,) = one.clients
        assert connection.unsent <= 2 * MIB
    until(lambda: one.clients == set() and one.held.held == 0)
    assert ask(one, b"again")[2] == b"again"


@pytest.mark.slow(0.5)
def test_what_follows_a_refused_head_is_not_kept(front: Any) -> None:
    one, _ = front(key=KEY, most=MIB)
    with connected(one) as client:
        client.sendall(f"{BEGIN}Content-Length: {MIB}\r\n\r\n".encode() + b"x" * 60_000)
        assert answer(client).startswith(b"HTTP/1.1 403 ")
        (connection,) = one.clients
        assert connection._waiting == b""
    until(lambda: one.clients == set())
    del connection
    assert not [timer for among in one.loop._timers.values() for timer in among]  # nothing refers to it any more


@pytest.mark.slow(0.5)
def test_a_client_that_resets_has_its_share_until_the_container_has_answered(front: Any) -> None:
    gate = threading.Event()

    def wait(container: Any) -> None:
        gate.wait(60)
        container.answer(b"")

    one, server = front(wait, most=MIB)
    with connected(one) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.sendall(f"{BEGIN}Content-Length: {MIB}\r\n\r\n".encode() + b"x" * MIB)
        until(lambda: len(server.seen) == 1)
    until(lambda: one.clients == set())
    assert one.held.held == MIB
    gate.set()
    until(lambda: one.held.held == 0)


@pytest.mark.slow(0.5)
def test_answers_between_containers_are_held_together(front: Any) -> None:
    """Of eight answers of a mebibyte, three are taken; the others wait until the next container has those."""
    gate = threading.Event()

    def second(container: Any) -> None:
        gate.wait(60)
        container.answer(b"%d" % len(container.content))

    one, first = front(lambda c: c.answer(b"y" * MIB), most=MIB, held=HeldBytes(3 * MIB))
    _, other = front(second)

    class Both:
        def route(self, _: Any) -> Route:
            steps = tuple(Step(address=("127.0.0.1", each.server_port), container="c") for each in (first, other))
            return Route(variant="Blue", steps=steps)

    one.routes = Both()
    with ExitStack() as stack:
        clients = [stack.enter_context(connected(one)) for _ in range(8)]
        for each in clients:
            each.sendall(f"{BEGIN}Content-Length: 1\r\n\r\n1".encode())
        until(lambda: len(first.seen) == 8 and len(other.seen) == 3)
        assert one.held.held == 3 * MIB
        gate.set()
        assert [answer(each).rpartition(b"\r\n")[2] for each in clients] == [b"%d" % MIB] * 8
    until(lambda: one.held.held == 0)


@pytest.mark.slow(0.5)
def test_the_owner_waits_for_nobody(front: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "owners.socket")
    one, _ = front(most=MIB, held=HeldBytes(MIB), owners_socket=path)
    with connected(one) as other:
        other.sendall(f"{BEGIN}Content-Length: {MIB}\r\n\r\n".encode())
        until(lambda: one.held.held == MIB)
        connection = http.client.HTTPConnection("localhost", timeout=60)
        connection.sock = connect_to(path, seconds=60)
        with closing(connection):
            connection.request("POST", PATH, body=b"o" * MIB)
            assert len(connection.getresponse().read()) == MIB


@pytest.mark.slow(0.5)
def test_who_waits_for_room_is_answered_when_it_does_not_come(front: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own time for the body begins when there is room."""
    monkeypatch.setattr(web, "WAIT_SECONDS", 0.2)
    one, _ = front(most=MIB, held=HeldBytes(MIB))
    with connected(one) as first, connected(one) as second:
        first.sendall(f"{BEGIN}Content-Length: {MIB}\r\n\r\n".encode())
        until(lambda: one.held.held == MIB)
        second.sendall(f"{BEGIN}Content-Length: {MIB}\r\n\r\n".encode())
        assert answer(second).startswith(b"HTTP/1.1 503 ")
        first.sendall(b"x" * MIB)
        assert answer(first).startswith(b"HTTP/1.1 200 ")


@pytest.mark.slow(0.5)
def test_a_chunked_body_has_no_more_than_it_needs_once_it_is_there(front: Any) -> None:
    gate = threading.Event()

    def wait(container: Any) -> None:
        gate.wait(60)
        container.answer(b"")

    one, server = front(wait, most=MIB)
    with connected(one) as client:
        chunk = b"%x\r\n%b\r\n0\r\n\r\n" % (80_000, b"x" * 80_000)
        client.sendall(f"{BEGIN}Transfer-Encoding: chunked\r\n\r\n".encode() + chunk)
        until(lambda: len(server.seen) == 1)
        assert one.held.held == 80_000
        gate.set()
        assert answer(client).startswith(b"HTTP/1.1 200 ")


@pytest.mark.slow(0.5)
def test_a_client_that_does_not_read_its_last_answer_is_closed(front: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "READ_SECONDS", 0.2)
    one, _ = front(lambda c: c.answer(b"y" * 8 * MIB), most=MIB)
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(60)
        client.connect(("127.0.0.1", one.port))
        client.sendall(f"{BEGIN}Connection: close\r\nContent-Length: 0\r\n\r\n".encode())
        until(lambda: any(each.unsent for each in one.clients))
        assert one.clients  # it counts as long as it is open
    until(lambda: one.clients == set())


@pytest.mark.slow(0.5)
def test_connections_to_a_container_are_not_kept_for_ever(front: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "IDLE_SECONDS", 0.2)
    one, server = front()
    assert ask(one)[0] == 200
    assert server.closed.acquire(timeout=60)
    assert ask(one)[0] == 200


@pytest.mark.slow(0.5)
def test_what_precedes_an_answer_is_skipped(front: Any) -> None:
    def hints(container: Any) -> None:
        container.wfile.write(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n")
        container.answer(b"here")

    one, _ = front(hints)
    assert ask(one)[::2] == (200, b"here")


@pytest.mark.slow(1)
def test_a_client_that_has_sent_its_end_and_reads_late_gets_all_answers(front: Any) -> None:
    one, _ = front(most=2 * MIB)
    body = f"{BEGIN}Content-Length: {MIB}\r\n\r\n".encode() + b"x" * MIB
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(60)
        client.connect(("127.0.0.1", one.port))

        def send() -> None:
            client.sendall(body * 3)
            client.shutdown(socket.SHUT_WR)

        sender = threading.Thread(target=send)
        sender.start()
        until(lambda: any(each.unsent for each in one.clients))
        got = b""
        while piece := client.recv(MIB):
            got += piece
        sender.join()
    assert got.count(b"HTTP/1.1 200 OK") == 3
    assert got.count(b"x" * MIB) == 3
    assert b"HTTP/1.1 4" not in got
