"""A registry that answers, and will not give the image."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

Fails = Callable[..., dict[str, Any]]


class Refusal(BaseHTTPRequestHandler):
    """Says no to everything, with the status that the repository is named after; greets nicely otherwise."""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the base class's name
        pass

    def do_GET(self) -> None:
        if self.path == "/v2/":
            return self._send(200, "{}")
        if "/status-401/" in self.path:
            return self._send(401, '{"errors": [{"code": "UNAUTHORIZED", "message": "authentication required"}]}')
        return self._send(404, '{"errors": [{"code": "MANIFEST_UNKNOWN", "message": "manifest unknown"}]}')

    do_HEAD = do_GET  # noqa: N815  the base class's name

    def _send(self, status: int, document: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(document)))
        if status == 401:
            self.send_header("WWW-Authenticate", 'Basic realm="stub"')
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(document.encode())


@pytest.fixture
def registry() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Refusal) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_the_registry_does_not_have_it(registry: str, fails: Fails, tmp_path: Path) -> None:
    image = {"TrainingImage": f"{registry}/status-404/image:v1"}
    answer = fails("pull-unknown", more=image, env={"DOCKER_CONFIG": str(tmp_path)})
    assert "unknown" in answer["Local"]["Explanation"]


def test_the_registry_wants_a_login(registry: str, fails: Fails, tmp_path: Path) -> None:
    image = {"TrainingImage": f"{registry}/status-401/image:v1"}
    answer = fails("pull-denied", more=image, env={"DOCKER_CONFIG": str(tmp_path)})
    assert "auth" in answer["Local"]["Explanation"]
