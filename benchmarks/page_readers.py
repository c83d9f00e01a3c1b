"""Open pages of a job without browsers: reads their streams of events to the end of the job, and tells what came.

python page_readers.py PORT JOB COUNT
"""

import json
import selectors
import socket
import sys
import time
import zlib
from dataclasses import dataclass

_SECONDS = 600


@dataclass(kw_only=True)
class Reader:
    connection: socket.socket
    rest: bytes = b""
    lines: int = 0
    check: int = 0
    """CRC32 of all that it was shown of the log."""
    over: bool = False

    def read(self) -> None:
        piece = self.connection.recv(1 << 20)
        *events, self.rest = (self.rest + piece).split(b"\n\n")
        for event in events:
            # The framing of HTTP is between the events, and never in one: each is sent as one chunk.
            _, begin, about = event.partition(b"event: ")
            if about.startswith(b"log\n"):
                text = about[about.index(b"data: ") + 6 :].replace(b"\ndata: ", b"\n")
                self.lines += text.count(b"\n")
                self.check = zlib.crc32(text, self.check)
            self.over = self.over or (bool(begin) and about.startswith(b"end\n"))
        if not piece:
            self.over = True


def main(port: int, job: str, count: int) -> None:
    began = time.monotonic()
    waiting = selectors.DefaultSelector()
    readers = [Reader(connection=connected(port, job)) for _ in range(count)]
    for each in readers:
        waiting.register(each.connection, selectors.EVENT_READ, each)
    while waiting.get_map() and time.monotonic() < began + _SECONDS:
        for key, _ in waiting.select(timeout=1):
            key.data.read()
            if key.data.over:
                waiting.unregister(key.fileobj)
    json.dump({"Lines": [each.lines for each in readers], "Checks": [each.check for each in readers]}, sys.stdout)


def connected(port: int, job: str) -> socket.socket:
    """A stream of the job's page, once there is such a job."""
    while True:
        connection = socket.create_connection(("127.0.0.1", port))
        request = f"GET /-/jobs/{job}/events?host=algo-1&from=0 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"
        connection.sendall(request.encode())
        if connection.recv(12).endswith(b"200"):
            return connection
        connection.close()
        time.sleep(0.02)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
