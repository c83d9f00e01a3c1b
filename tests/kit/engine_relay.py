"""The real engine behind a socket that can vanish, come back, and answer badly for a while."""

import os
import re
import select
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path

from smlocal.engine.endpoint import find_endpoint

_CUT_SECONDS = 200.0


class EngineRelay:
    """Passes on what is said, each connection in a thread of its own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.refused = 0
        """How many calls were answered with an error."""
        self.refuse("")
        self._open: set[socket.socket] = set()
        self._lines: dict[socket.socket, bytes] = {}
        self._stalled: set[socket.socket] = set()
        self._holds = re.compile(b"(?!)")
        self.held = threading.Event()
        """Set when a call is held."""
        self._let_go = threading.Event()
        self._listener: socket.socket | None = None
        self._threads: list[threading.Thread] = []
        self.come_back()

    @property
    def address(self) -> str:
        return f"unix://{self.path}"

    def refuse(self, request: str, *, times: float = float("inf")) -> None:
        """Answer so many calls whose first line matches with status 500; an empty pattern ends that."""
        self._left = times
        self._refuses = re.compile(request.encode() or b"(?!)")

    def hold(self, request: str) -> None:
        """Give the engine calls whose first line matches only after `let_go`, even if no client waits for an answer.

        `held` is set when a call has come with its whole body, so its client can be killed then.
        """
        self._holds = re.compile(request.encode())

    def let_go(self) -> None:
        """Give the engine what is held."""
        self._let_go.set()

    def cut(self, request: str) -> None:
        """Cut the open connections whose first line matches."""
        for connection in self._open_of(request):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def stall(self, request: str) -> None:
        """Pass on nothing more from the engine on the open connections whose first line matches."""
        self._stalled |= self._open_of(request)

    def _open_of(self, request: str) -> set[socket.socket]:
        return {here for here, line in list(self._lines.items()) if re.search(request.encode(), line)}

    def vanish(self) -> None:
        """Cut every connection and take none any more; the engine and its containers hear nothing of it."""
        listener, self._listener = self._listener, None
        if listener is not None:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
            os.unlink(self.path)
        until = time.monotonic() + _CUT_SECONDS
        for thread in self._threads:
            while thread.is_alive():
                assert time.monotonic() < until
                # Again each time: a connection may have been accepted a moment ago.
                for connection in list(self._open):
                    with suppress(OSError):
                        connection.shutdown(socket.SHUT_RDWR)
                thread.join(0.05)  # passes: until the deadline
        self._threads.clear()

    def come_back(self) -> None:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(self.path))
        listener.listen(64)
        self._listener = listener
        self._begin(self._accept, listener)

    def _begin(self, work: object, *arguments: socket.socket) -> None:
        assert callable(work)
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                self._begin(self._serve, connection)

    def _serve(self, here: socket.socket) -> None:
        with here, suppress(OSError):
            self._open.add(here)
            first = here.recv(65536)
            self._lines[here] = first.partition(b"\r\n")[0]
            if self._left > 0 and self._refuses.search(first.partition(b"\r\n")[0]):
                self._left -= 1
                self.refused += 1
                body = b'{"message": "the engine is busy"}'
                here.sendall(b"HTTP/1.1 500 Busy\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
                return
            if self._holds.search(first.partition(b"\r\n")[0]):
                first = _whole_request(first, here)
                self.held.set()
                self._let_go.wait()
            with find_endpoint().connect() as there:
                self._open.add(there)
                there.sendall(first)
                self._pass(here, there)
                self._open.discard(there)
        self._open.discard(here)
        self._lines.pop(here, None)

    def _pass(self, here: socket.socket, there: socket.socket) -> None:
        other = {here: there, there: here}
        both = [here, there]
        while True:
            for ready in select.select(both, [], [])[0]:
                data = ready.recv(65536)
                if not data and ready is there and here in self._stalled:
                    both.remove(there)
                    continue
                if not data:
                    return
                if ready is here or here not in self._stalled:
                    other[ready].sendall(data)


def _whole_request(received: bytes, connection: socket.socket) -> bytes:
    """The received bytes, and the number that is missing of the body."""
    head, _, body = received.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)\r\ncontent-length: *([0-9]+)", head)
    missing = int(length[1]) - len(body) if length else 0
    while missing > 0:
        data = connection.recv(missing)
        assert data, "the caller was gone before its request was complete"
        received += data
        missing -= len(data)
    return received
