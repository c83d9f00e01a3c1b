"""The process that answers the calls of a job's debugger rules: `python -P -m smlocal.endpoint.rules.endpoint_process`.

The first line of standard input is a JSON document with the task; the listening socket is inherited. The process ends
with standard input, so it never outlives the supervisor of the job. It needs no package of the endpoint.
"""

import json
import socket
import sys
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingMixIn, UnixStreamServer
from threading import Thread
from typing import Any

from smlocal.endpoint.rules.rule_calls import RuleServing, answer
from smlocal.jobs.store.jobs import Store

_MOST_BYTES = 1 << 20
_REQUEST_SECONDS = 60.0


class _Server(ThreadingMixIn, UnixStreamServer):
    daemon_threads = True

    def __init__(self, listener: socket.socket, serving: RuleServing) -> None:
        super().__init__("", _Connection, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.serving = serving

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A container has closed its connection."""


class _Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = _REQUEST_SECONDS
    server: _Server

    def do_POST(self) -> None:
        """All calls are sent by this method."""
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdecimal()) or int(length) > _MOST_BYTES:
            self.close_connection = True
            self.send_error(413)
            return
        body = self.rfile.read(int(length))
        done = answer(self.server.serving, {name.lower(): value for name, value in self.headers.items()}, body)
        self.send_response(done.status)
        self.send_header("Content-Type", done.kind)
        self.send_header("Content-Length", str(len(done.body)))
        self.end_headers()
        self.wfile.write(done.body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as the base class names it
        """Nobody reads it."""


def main() -> None:
    """The program."""
    task = json.loads(sys.stdin.buffer.readline())
    with (
        socket.socket(fileno=task["Socket"]) as listener,
        Store.open(task["Home"]) as store,
        _Server(listener, RuleServing(store=store, job=task["Job"], rules=task["Rules"])) as server,
    ):
        Thread(target=server.serve_forever, name="rule-endpoint", daemon=True).start()
        sys.stdin.buffer.read()
        server.shutdown()


if __name__ == "__main__":
    main()
