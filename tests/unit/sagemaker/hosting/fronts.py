"""A front of a container that is a server of the test."""

import http.client
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from smlocal.jobs.planning.aspects.serving.plan import ServingPlan
from smlocal.sagemaker.hosting.front import Front
from smlocal.sagemaker.hosting.service_answers import Identity

PATH = "/endpoints/here/invocations"
BEGIN = f"POST {PATH} HTTP/1.1\r\nHost: localhost\r\n"
Behave = Callable[["Container"], None]


class Container(BaseHTTPRequestHandler):
    """Does what its server was made for; `seen` has the requests."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: "Server"
    content: bytes

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        self.content = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.seen.append((self.path, dict(self.headers.items()), self.content))
        self.server.ports.add(self.client_address[1])
        self.server.behave(self)

    def answer(self, body: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, behave: Behave) -> None:
        super().__init__(("127.0.0.1", 0), Container)
        self.behave = behave
        self.seen: list[tuple[str, dict[str, str], bytes]] = []
        self.ports: set[int] = set()
        self.closed = threading.Semaphore(0)
        """Has one for each connection that it has closed."""

    def shutdown_request(self, request: Any) -> None:
        super().shutdown_request(request)
        self.closed.release()


def echo(container: Container) -> None:
    container.answer(container.content, Content_Type="text/csv")


@pytest.fixture
def front() -> Iterator[Callable[..., tuple[Front, Server]]]:
    made: list[tuple[Front, Server]] = []

    def make(
        behave: Behave = echo, *, invocation: float = 20.0, stream: float = 0.0, most: int = 1000, **more: Any
    ) -> tuple[Front, Server]:
        server = Server(behave)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        limits = ServingPlan(variants=(), ping=1, invocation=invocation, stream=stream, most_body=most)
        identity = Identity(endpoint="here", variant="Blue", region="eu-west-1", account="123")
        one = Front(identity=identity, limits=limits, **more)
        one.start(lambda thread, error: pytest.fail(f"{thread}: {error}"))
        one.serve_from(("127.0.0.1", server.server_port))
        made.append((one, server))
        return one, server

    yield make
    for one, server in made:
        one.close()
        server.shutdown()
        server.server_close()


def ask(
    front: Front, body: Any = b"1,2", path: str = PATH, **headers: str
) -> tuple[int, http.client.HTTPMessage, bytes]:
    with closing(http.client.HTTPConnection("127.0.0.1", front.port, timeout=60)) as connection:
        connection.request("POST", path, body=body, headers={k.replace("_", "-"): v for k, v in headers.items()})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
