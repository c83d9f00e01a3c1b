"""A server that answers botocore, unmodified, with what a test wants AWS to say."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, dict[str, Any]]
"""Status and document."""
Answers = dict[str, Answer | Callable[[dict[str, Any]], Answer]]
"""By operation; or what makes it of the request."""


@contextmanager
def aws_answering(answers: Answers) -> Iterator[str]:
    """The address of a server of the services whose protocol is JSON: SageMaker, ECR, Logs."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            said = answers[self.headers["X-Amz-Target"].rpartition(".")[2]]
            status, document = said(json.loads(asked)) if callable(said) else said
            body = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/x-amz-json-1.1")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join(200)
        server.server_close()
