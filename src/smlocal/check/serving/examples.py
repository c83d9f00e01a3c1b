"""The programs in the examples of the rules about serving."""

BASE = "FROM python:3.11-slim-bookworm\n"
COPIED = f"{BASE}COPY serve /usr/local/bin/serve\n"
TRAINS_TOO = f"{BASE}COPY train serve /usr/local/bin/\n"
TRAIN = ("train", "#!/bin/sh\necho 3 >/opt/ml/model/weights\n")


def server(
    *,
    ping: str = "self.answer(200)",
    invocations: str = "self.answer(200 if body.replace(b',', b'').strip().isdigit() else 415)",
    first: str = "signal.signal(signal.SIGTERM, lambda *_: os._exit(0))",
    serve: str = "ThreadingHTTPServer(('0.0.0.0', 8080), Handler).serve_forever()",
) -> tuple[tuple[str, str], ...]:
    """A file `serve` that keeps the contract, but for the parts that are given."""
    text = f"""#!/usr/local/bin/python
import os, signal, time
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer

class Handler(BaseHTTPRequestHandler):
    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self):
        {ping}

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        {invocations}

{first}
{serve}
"""
    return (("serve", text),)
