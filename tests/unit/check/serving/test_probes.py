"""What a check reads of a container that serves, and how it judges it."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from smlocal.check.serving.interface import ListenAddress, PingSeen
from smlocal.check.serving.run_endpoint import (
    _listeners,
    ask,
    late_connections,
    ping,
    ping_beside_another,
    shown,
    written_since,
)

TCP = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1
   1: 0B00007F:8A2B 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 2 1
   2: 00000000:1388 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 3 1
   3: 0100007F:1F91 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 4 1
  sl  local_address                         remote_address                        st
   0: 00000000000000000000000000000000:1F92 00000000000000000000000000000000:0000 0A 00000000
   1: 00000000000000000000000001000000:1F93 00000000000000000000000000000000:0000 0A 00000000
   2: 0000000000000000FFFF00000100007F:1F94 00000000000000000000000000000000:0000 0A 00000000
"""


def test_the_addresses_at_which_a_container_listens() -> None:
    assert list(_listeners(TCP)) == [
        ListenAddress(loopback=True, port=8080),
        ListenAddress(loopback=False, port=5000),
        ListenAddress(loopback=False, port=8082),
        ListenAddress(loopback=True, port=8083),
        ListenAddress(loopback=True, port=8084),
    ]


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(424)
        self.end_headers()
        self.wfile.write(b'{"OriginalStatusCode": 500, "OriginalMessage": "no"}')

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(kind: type[HTTPServer]) -> Iterator[tuple[str, int]]:
    with kind(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield "127.0.0.1", server.server_port
        server.shutdown()
        thread.join()


@pytest.mark.slow(0.5)
def test_a_ping_beside_another_request() -> None:
    with serving(ThreadingHTTPServer) as address:
        assert ping(address).is_healthy
        assert ping_beside_another(address, "text/csv").is_healthy
    with serving(HTTPServer) as address:
        assert ping(address).is_healthy
        assert ping_beside_another(address, "text/csv").said == "no answer to /ping within 2 s"
    assert ping(address).said == f"nothing listens on port {address[1]}"


@pytest.mark.parametrize(("backlog", "late"), [(0, 5), (3, 2), (5, 0)])
@pytest.mark.linux("only Linux tells of each connection whether it was late")
def test_connections_that_have_no_place_in_the_queue_are_late(backlog: int, late: int) -> None:
    """Nothing is ever accepted. The queue holds one more than it says; the request takes the first place."""
    with socket.create_server(("127.0.0.1", 0), backlog=backlog) as listener:
        assert late_connections(listener.getsockname(), "text/csv") == (late, 5)


@pytest.mark.slow(0.5)
def test_the_answer_of_a_container_is_in_that_of_the_endpoint() -> None:
    with serving(ThreadingHTTPServer) as (host, port):
        answer = ask(f"http://{host}:{port}/endpoints/x/invocations", b"1,2\n", "text/csv", key={})
    assert answer == ("1,2 (text/csv)", 500, "no")
    assert answer.is_of_the_server
    assert ask(f"http://{host}:{port}/", b"", "text/csv", key={}).status == 0


def test_how_a_ping_is_spoken_of() -> None:
    assert PingSeen(503, 0.1, "").said == "/ping answered 503"
    assert PingSeen(200, 2.5, "").said == "/ping answered after 2.5 s"


@pytest.mark.parametrize(
    ("content", "text"), [(b"a\nb  c", "a b c"), (b"\xff\xfe", "2 bytes"), (b"x" * 300, "x" * 200 + "…")]
)
def test_a_body_in_one_line(content: bytes, text: str) -> None:
    assert shown(content) == text


def test_what_was_written_in_a_model(tmp_path: Path) -> None:
    (tmp_path / "code" / "__pycache__").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    for name in ("weights", "code/inference.py", "code/__pycache__/inference.cpython-311.pyc", "other/a"):
        (tmp_path / name).write_text("1")
    for path in [tmp_path, *tmp_path.rglob("*")]:
        os.utime(path, (1000, 1000))
    assert written_since(str(tmp_path), 1001.0) == ()
    os.utime(tmp_path / "code" / "__pycache__", (2000, 2000))
    os.utime(tmp_path / "code", (2000, 2000))
    assert written_since(str(tmp_path), 1001.0) == ()
    os.utime(tmp_path / "weights", (2000, 2000))
    (tmp_path / "other" / "a").unlink()
    assert written_since(str(tmp_path), 1001.0) == ("other", "weights")
