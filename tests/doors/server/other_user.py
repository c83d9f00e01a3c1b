"""Asks servers of this machine as a user who is not their owner; run by the tests as root.

Everything is imported first: a Python in root's home is out of that user's sight. The requests come as JSON from stdin:
a port and the bytes to send. The answer is printed, or the error.
"""

import encodings.idna
import json
import os
import socket
import sys

UID = 54321
LOADED = (encodings.idna,)


def ask(port: int, sent: str) -> str:
    """The first bytes of the answer."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(sent.encode())
        got = b""
        try:
            while b"\r\n\r\n" not in got and (piece := connection.recv(1 << 16)):
                got += piece
        except ConnectionError as error:
            return type(error).__name__
        return got.decode("latin-1")


def read(path: str) -> str:
    """The content of a file."""
    try:
        with open(path, "rb") as file:
            return file.read(100).decode("latin-1")
    except OSError as error:
        return type(error).__name__


def main() -> None:
    """Be that user, and ask."""
    asked = json.load(sys.stdin)
    os.setgroups([])
    os.setgid(UID)
    os.setuid(UID)
    answers = [ask(*each) for each in asked["requests"]]
    print(json.dumps({"answers": answers, "files": [read(path) for path in asked["files"]]}))  # noqa: T201 - the answer


main()
