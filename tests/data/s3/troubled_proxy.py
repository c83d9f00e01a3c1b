"""A real server between client and S3 that breaks what passes as it is told, once for each time it is told."""

import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Self

_MARK = b"\r\n\r\n"

Trouble = Callable[[socket.socket, bytes], bool]
"""Given the client and the whole answer to a request; True if it has dealt with it."""


class TroubledProxy:
    """Relays request by request, holding each answer whole: for small amounts of data."""

    def __init__(self, port: int) -> None:
        self.server = port
        self.requests: list[str] = []
        """The head of every request that came."""
        self.bodies_cut: deque[int] = deque()
        """The next bodies that a client sends break off after so many bytes."""
        self._problems: dict[str, deque[Trouble]] = {}
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self._threads: list[threading.Thread] = []
        self._open: list[socket.socket] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def next(self, *troubles: Trouble, method: str = "GET") -> None:
        """The faults of the next answers to a method, in turn; afterwards there are none."""
        self._problems.setdefault(method, deque()).extend(troubles)

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for sock in list(self._open):
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()

    def _start(self, target: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._open.append(client)
                self._start(self._serve, client)

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError, EOFError):
            while True:
                request = _until_mark(client)
                with self._lock:
                    self.requests.append(_lower_names(request.decode()))
                    troubles = self._problems.get(request.partition(b" ")[0].decode())
                    trouble = troubles.popleft() if troubles else None
                sent = self._body_of(client, request)
                with socket.create_connection(("127.0.0.1", self.server)) as server:
                    self._open.append(server)
                    lines = request.split(b"\r\n")
                    head = b"\r\n".join(line for line in lines if not line.lower().startswith(b"expect:"))
                    server.sendall(head.replace(_MARK, b"\r\nConnection: close" + _MARK) + sent)
                    answer = b"".join(iter(lambda: server.recv(1 << 20), b""))
                head, _, body = answer.partition(_MARK)
                kept = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"connection:")]
                answer = b"\r\n".join(kept) + _MARK + body
                if trouble is None:
                    client.sendall(answer)
                elif trouble(client, answer):
                    return

    def _body_of(self, client: socket.socket, request: bytes) -> bytes:
        """A client's body; EOFError once it has been cut."""
        lines = request.lower().split(b"\r\n")
        length = next((int(line[15:]) for line in lines if line.startswith(b"content-length:")), 0)
        if not length:
            return b""
        if b"\r\nexpect:" in request.lower():
            client.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        with self._lock:
            cut = self.bodies_cut.popleft() if self.bodies_cut else None
        body = bytearray()
        while len(body) < (length if cut is None else min(cut, length)):
            piece = client.recv(1 << 20)
            if not piece:
                raise EOFError
            body += piece
        if cut is not None:
            dropped(client, b"")
            raise EOFError
        return bytes(body)


def _lower_names(head: str) -> str:
    """The names of the headers in lower case: clients differ."""
    first, *lines = head.split("\r\n")
    pairs = (line.partition(":") for line in lines)
    return "\r\n".join([first, *(f"{name.lower()}{mark}{value}" for name, mark, value in pairs)])


def _until_mark(client: socket.socket) -> bytes:
    """The head of a request, and nothing of its body."""
    while True:
        seen = client.recv(1 << 16, socket.MSG_PEEK)
        if not seen:
            raise EOFError
        if _MARK in seen:
            return client.recv(seen.index(_MARK) + len(_MARK))
        time.sleep(0.001)


def passed(client: socket.socket, answer: bytes) -> bool:
    """No trouble at all."""
    client.sendall(answer)
    return False


def slow_down(client: socket.socket, _: bytes) -> bool:
    """503, as S3 throttles."""
    body = b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
    client.sendall(b"HTTP/1.1 503 Slow Down\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    return False


def refused(status: int, code: str) -> Trouble:
    """Any other error document."""

    def answer(client: socket.socket, _: bytes) -> bool:
        body = f"<Error><Code>{code}</Code><Message>said {code}</Message></Error>".encode()
        client.sendall(b"HTTP/1.1 %d Refused\r\nContent-Length: %d\r\n\r\n" % (status, len(body)) + body)
        return False

    return answer


def cut_after(count: int) -> Trouble:
    """The connection ends after so many bytes of the body."""

    def cut(client: socket.socket, answer: bytes) -> bool:
        client.sendall(answer[: answer.index(_MARK) + len(_MARK) + count])
        return True

    return cut


def dropped(client: socket.socket, _: bytes) -> bool:
    """The connection is reset before the answer's first byte."""
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    return True


def with_etag(etag: str) -> Trouble:
    """The answer of somebody who has replaced the object."""
    return with_header("ETag", etag)


def with_header(name: str, value: str) -> Trouble:
    """The answer with another value of a header."""

    def change(client: socket.socket, answer: bytes) -> bool:
        head, _, body = answer.partition(_MARK)
        lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(f"{name.lower()}:".encode())]
        client.sendall(b"\r\n".join([*lines, f"{name}: {value}".encode()]) + _MARK + body)
        return False

    return change


def with_flipped_byte(client: socket.socket, answer: bytes) -> bool:
    """The last byte of the body is another one."""
    client.sendall(answer[:-1] + bytes([answer[-1] ^ 1]))
    return False


def in_chunks(client: socket.socket, answer: bytes) -> bool:
    """Passes the answer on in chunks, as S3 sends listings."""
    head, _, body = answer.partition(_MARK)
    lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"content-length:")]
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(body[at : at + 7]), body[at : at + 7]) for at in range(0, len(body), 7))
    client.sendall(b"\r\n".join([*lines, b"Transfer-Encoding: chunked"]) + _MARK + chunks + b"0\r\n\r\n")
    return False
