"""A connection to a container that serves: one request after the other, each within its limit of time.

Waits for both directions at once: a container may answer, or refuse, before it has read the request.
"""

import errno
import os
import select
import socket
import time
from collections.abc import Callable, Iterator
from typing import Final

from smlocal.base.web import Body, MessageError, MessageHead, take_head
from smlocal.sagemaker.serving.connections import connecting
from smlocal.sagemaker.serving.route import Address

_CONNECT_SECONDS: Final = 5.0
"""A container may have ended, and its address does not answer."""
_PIECE: Final = 1 << 18
_NO_CONTENT: Final = 204
_LONGEST_WAIT: Final = 86_400.0
"""Seconds. `poll` takes no larger number than an int of C."""
_NOT_NOW: Final = (BlockingIOError, InterruptedError)


class CancelledError(Exception):
    """The job is being stopped."""


class BlockingConnection:
    """Open, or not made yet. It is used by one thread at a time."""

    __slots__ = ("_arrived", "_deadline", "_poll", "_socket", "_stopped", "reusable")

    def __init__(self, address: Address, stopped: int) -> None:
        """`stopped`: the end of a pipe, whose other end is closed when all requests are to end."""
        self._stopped = stopped
        self._deadline = 0.0
        self._arrived = b""
        """The beginning of a head."""
        self.reusable = False
        """True if its last answer has ended and it stays open."""
        self._socket = connecting(address)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._poll = select.poll()
        self._poll.register(stopped, 0)
        self._poll.register(self._socket, 0)

    @property
    def quiet(self) -> bool:
        """True if it can carry another request: nothing has arrived, nor the end."""
        self._poll.modify(self._socket, select.POLLIN)
        return self.reusable and not self._poll.poll(0)

    def close(self) -> None:
        """Use it no more."""
        self._socket.close()

    def connect(self, seconds: float) -> None:
        """Wait until it is made; `TimeoutError` or `OSError` if it is not."""
        self._deadline = time.monotonic() + min(seconds, _CONNECT_SECONDS)
        self._wait(select.POLLOUT)
        found = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if found:
            raise OSError(found, os.strerror(found))

    def ask(
        self,
        request: Iterator[bytes],
        *,
        seconds: float,
        headed: Callable[[int], None],
        came: Callable[[bytes], bool],
    ) -> None:
        """Send a request and take its answer.

        `headed` gets the status, `came` each piece of the content; it returns False if it wants no more of it.
        `TimeoutError` if the answer is not whole in time, `MessageError` if it is no HTTP, `OSError` if there is none.
        """
        self._deadline = time.monotonic() + seconds
        self.reusable, self._arrived = False, b""
        left: memoryview | None = memoryview(next(request))
        head: MessageHead | None = None
        body: Body | None = None
        while body is None or not body.ended:
            ready = self._wait(select.POLLIN if left is None else select.POLLIN | select.POLLOUT)
            if ready & ~select.POLLOUT:
                data = self._received()
                if data is None:
                    continue
                if not data:
                    _end(body)
                    return
                if body is None:
                    head, data = self._headed(data)
                    if head is None:
                        continue
                    body = Body(head, to_the_end=True, empty=_status(head) == _NO_CONTENT)
                    headed(_status(head))
                content, rest = body.take(data)
                if content and not came(content):
                    return
                if body.ended and head is not None:
                    framed = body.chunked or body.length is not None
                    self.reusable = left is None and not rest and framed and head.keeps_open(head.first[0])
            elif left is not None:
                left = self._sent(left, request)

    def _headed(self, data: bytes) -> tuple[MessageHead | None, bytes]:
        """The head of the answer, and what follows it; None if it is not complete."""
        head, data = take_head(self._arrived + data)
        while head is not None and 100 <= _status(head) < 200:  # noqa: PLR2004 - HTTP
            head, data = take_head(data)
        self._arrived = data if head is None else b""
        return head, data

    def _sent(self, data: memoryview, request: Iterator[bytes]) -> memoryview | None:
        """What is still to be sent; None if that is nothing."""
        try:
            data = data[self._socket.send(data) :]
        except _NOT_NOW:
            return data
        except (BrokenPipeError, ConnectionResetError):
            return None  # it reads no more, and may have said why
        if data:
            return data
        following = next(request, None)
        return None if following is None else memoryview(following)

    def _received(self) -> bytes | None:
        try:
            return self._socket.recv(_PIECE)
        except _NOT_NOW:
            return None

    def _wait(self, events: int) -> int:
        """What the socket is ready for."""
        self._poll.modify(self._socket, events)
        left = self._deadline - time.monotonic()
        found = dict(self._poll.poll(min(left, _LONGEST_WAIT) * 1000)) if left > 0 else {}
        if self._stopped in found:
            raise CancelledError
        if not found:
            raise TimeoutError
        return found[self._socket.fileno()]


def _status(head: MessageHead) -> int:
    protocol, status, _ = head.first
    if not protocol.startswith("HTTP/") or not (status.isdecimal() and len(status) == 3):  # noqa: PLR2004 - HTTP
        raise MessageError("the container's answer is not HTTP")
    return int(status)


def _end(body: Body | None) -> None:
    """The container has closed the connection."""
    if body is None:
        raise ConnectionResetError(errno.ECONNRESET, "the container closed the connection without an answer")
    body.end()
