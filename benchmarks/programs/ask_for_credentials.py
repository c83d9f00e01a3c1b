"""In a container: ask for credentials and ask a server of this container, by turns: ROUNDS COUNT."""

import http.client
import http.server
import json
import os
import sys
import time

_SERVICE = ("169.254.170.2", 80)
path = os.environ["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"]


def ask(host: str, port: int) -> bytes:
    connection = http.client.HTTPConnection(host, port, timeout=60)
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    assert answer.status == 200, body
    return body


def server_of(body: bytes) -> tuple[str, int]:
    """Its address; it answers in a process of its own."""

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    if not os.fork():
        server.serve_forever()
    return "127.0.0.1", server.server_address[1]


def timed(address: tuple[str, int], count: int) -> float:
    began = time.perf_counter()
    for _ in range(count):
        ask(*address)
    return time.perf_counter() - began


def main(rounds: int, count: int) -> None:
    sides = [_SERVICE, server_of(ask(*_SERVICE))]
    took: list[list[float]] = [[], []]
    for number in range(rounds + 1):
        for side in (0, 1) if number % 2 else (1, 0):
            took[side].append(timed(sides[side], count))
    with open("/opt/ml/output/data/took.json", "w", encoding="utf-8") as file:
        json.dump([each[1:] for each in took], file)


main(int(sys.argv[1]), int(sys.argv[2]))
