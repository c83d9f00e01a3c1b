"""Just enough HTTP/1.1 for S3: on 20 KiB objects a general client spends three times the CPU of everything here."""

import socket
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

TICK = 0.5
"""Seconds after which whoever waits for bytes looks up and decides whether to wait on."""

EXPECT = "expect"
"""The header of a request whose body is sent once the other side has said that it wants it."""

_HEAD = 64 << 10
_TICKS_TO_GO_ON = 2
"""A server that says nothing to an `Expect` for so long does not know of it."""
_MARK = b"\r\n\r\n"
_NO_BODY = {204, 304}


class BrokenConnectionError(Exception):
    """The connection ended, or stayed silent, before its time, or does not speak HTTP."""


class Connection:
    """One connection; a request after the other, each answer's body read to its end before the next."""

    def __init__(self, sock: socket.socket, waiting: Callable[[], None]) -> None:
        """`waiting` is called every `TICK` without a byte, and raises when it has been enough."""
        self._socket = sock
        self._buffer = bytearray(_HEAD)
        self._start = self._end = 0  # what of the buffer has been received and not yet been read
        self._left: int | None = 0  # bytes of the body, or of its current chunk, that are still to come; None: no end
        self._chunked = False
        self._lasts = True
        self.waiting = waiting
        self.requests = 0
        """How many were sent; a connection that has waited in a pool may have been closed meanwhile."""

    @property
    def is_reusable(self) -> bool:
        """Whether the answer has been read to its end and the other side keeps the connection."""
        return self._left == 0 and not self._chunked and self._lasts and self._start == self._end

    def ask(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str],
        body: Iterable[memoryview] = (),
        moved: Callable[[int], None] = lambda _: None,
    ) -> tuple[int, dict[str, str]]:
        """Send a request and read the head of its answer: the status, and the headers by their names in lower case.

        `moved` is told the bytes of the body as they go; it may raise, and the connection is then good for nothing.
        """
        lines = "".join(f"{key}: {value}\r\n" for key, value in headers.items())
        self.requests += 1
        self._send(memoryview(f"{method} {target} HTTP/1.1\r\n{lines}\r\n".encode("latin-1")))
        wanted = EXPECT not in headers or self._may_go_on()
        whole = wanted and self._send_all(body, moved)
        status, found = self._final_head()
        self._lasts = whole and found.get("connection", "").lower() != "close"
        self._chunked = False
        if method == "HEAD" or status in _NO_BODY:
            self._left = 0
        elif "chunked" in found.get("transfer-encoding", "").lower():
            self._chunked, self._left = True, 0
        elif "content-length" in found:
            self._left = _number(found["content-length"], 10)
        else:
            self._left, self._lasts = None, False
        return status, found

    def read_into(self, view: memoryview) -> int:
        """Read some of the body; 0 at its end."""
        if self._chunked and self._left == 0:
            self._next_chunk()
        if self._left == 0 or not view:
            return 0
        if self._left is not None:
            view = view[: self._left]
        count = self._take(view) if self._start < self._end else self._receive(view)
        if count == 0 and self._left is None:
            self._left = 0
            return 0
        if count == 0:
            raise BrokenConnectionError("the connection was closed early")
        if self._left is not None:
            self._left -= count
            if self._chunked and self._left == 0:
                self._line()  # the end of a chunk has a line break of its own
        return count

    def read(self, most: int) -> bytes:
        """Read the whole body of a document, `most` bytes of it at the most."""
        pieces = bytearray()
        piece = memoryview(bytearray(min(most, _HEAD)))
        while len(pieces) < most and (count := self.read_into(piece[: most - len(pieces)])):
            pieces += piece[:count]
        if len(pieces) == most:
            # The end of a chunked body is a chunk of its own.
            self.read_into(piece[:1])
        return bytes(pieces)

    def close(self) -> None:
        """Close it, for good."""
        self._lasts = False
        with suppress(OSError):
            self._socket.close()

    def _send(self, view: memoryview) -> int:
        """Send all of it; how many bytes that were."""
        rest = view
        while rest:
            try:
                rest = rest[self._socket.send(rest) :]
            except TimeoutError:
                self.waiting()
            except OSError as error:
                raise BrokenConnectionError(str(error)) from error
        return len(view)

    def _send_all(self, body: Iterable[memoryview], moved: Callable[[int], None]) -> bool:
        """Send a body; False when the other side has closed and may have said why before it did."""
        for piece in body:
            for start in range(0, len(piece), _HEAD):
                try:
                    count = self._send(piece[start : start + _HEAD])
                except BrokenConnectionError:
                    if not self._has_word(1):
                        raise
                    return False
                moved(count)
        return True

    def _may_go_on(self) -> bool:
        """Whether the other side wants the body; one that says nothing is taken to."""
        if not self._has_word(_TICKS_TO_GO_ON):
            return True
        return self._buffer.startswith((b"HTTP/1.1 100", b"HTTP/1.0 100"), self._start, self._end)

    def _has_word(self, ticks: int) -> bool:
        """Whether some of an answer is here, or comes within so many ticks."""
        for _ in range(ticks):
            if self._start < self._end:
                break
            try:
                self._end = self._socket.recv_into(self._buffer)
            except TimeoutError:
                self.waiting()
            except OSError as error:
                raise BrokenConnectionError(str(error)) from error
            else:
                self._start = 0
                if not self._end:
                    raise BrokenConnectionError("the connection was closed early")
        return self._start < self._end

    def _final_head(self) -> tuple[int, dict[str, str]]:
        status, found = self._head()
        while 100 <= status < 200:  # noqa: PLR2004  interim answers of HTTP
            status, found = self._head()
        return status, found

    def _receive(self, view: memoryview) -> int:
        while True:
            try:
                return self._socket.recv_into(view)
            except TimeoutError:
                self.waiting()
            except OSError as error:
                raise BrokenConnectionError(str(error)) from error

    def _take(self, view: memoryview) -> int:
        count = min(len(view), self._end - self._start)
        view[:count] = self._buffer[self._start : self._start + count]
        self._start += count
        return count

    def _more(self) -> None:
        """Receive something into the buffer, behind what has not been read yet."""
        if self._start:
            rest = self._end - self._start
            self._buffer[:rest] = self._buffer[self._start : self._end]
            self._start, self._end = 0, rest
        if self._end == len(self._buffer):
            raise BrokenConnectionError("a head of HTTP has no end")
        with memoryview(self._buffer) as view:
            count = self._receive(view[self._end :])
        if not count:
            raise BrokenConnectionError("the connection was closed early")
        self._end += count

    def _until(self, mark: bytes) -> str:
        while (at := self._buffer.find(mark, self._start, self._end)) < 0:
            self._more()
        found = self._buffer[self._start : at].decode("latin-1")
        self._start = at + len(mark)
        return found

    def _line(self) -> str:
        return self._until(b"\r\n")

    def _head(self) -> tuple[int, dict[str, str]]:
        first, *lines = self._until(_MARK).split("\r\n")
        version, _, status = first.partition(" ")
        if not version.startswith("HTTP/1."):
            raise BrokenConnectionError(f"an answer begins with {first[:80]!r}")
        pairs = (line.partition(":") for line in lines)
        return _number(status[:3], 10), {key.lower(): value.strip() for key, _, value in pairs}

    def _next_chunk(self) -> None:
        self._left = _number(self._line().partition(";")[0], 16)
        if self._left == 0:
            while self._line():
                pass
            self._chunked = False


def _number(text: str, base: int) -> int:
    try:
        number = int(text, base)
    except ValueError:
        number = -1
    if number < 0:
        raise BrokenConnectionError(f"{text[:80]!r} is no number of HTTP")
    return number
