"""Answers whoever asks for credentials: the containers of one job, and nobody else."""

import selectors
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import field
from functools import partial
from threading import BoundedSemaphore, Event, Lock, Thread
from typing import TypedDict, Unpack

from smlocal.credentials.answers import MALFORMED, MOST_BYTES, UNKNOWN, Asked, Secret, answer, read_head, refusal
from smlocal.credentials.fresh import ExpiredError, Fresh
from smlocal.credentials.handover import hand_over, open_door, take_in
from smlocal.credentials.listener import PORT, Listener, is_here, is_reached, open_listener, unreachable
from smlocal.errors import SmlocalError
from smlocal.quick_dataclass import dataclass
from smlocal.threads import watched_thread

_AT_ONCE = 64
_LOOK_SECONDS = 1.0
_PATIENCE_SECONDS = 5.0
"""For the whole of a request."""


class Job(TypedDict):
    """What a server knows of its job."""

    secret: Secret
    fresh: Fresh
    role_arn: str
    is_ours: Callable[[str], bool]
    appear: Callable[[], None]
    died: Callable[[str, BaseException], None]


@dataclass(kw_only=True, slots=True)
class Server:
    """One job's; begins at once to answer, and ends with `close`."""

    listener: Listener
    secret: Secret
    fresh: Fresh
    role_arn: str
    is_ours: Callable[[str], bool]
    """True for the address of a container of the job."""
    appear: Callable[[], None]
    """Has the address made; raises `SmlocalError`."""
    died: Callable[[str, BaseException], None]
    """Told the name of a thread that has ended by an exception nobody expected, and the exception."""
    _door: socket.socket | None = None
    _stopped: Event = field(default_factory=Event)
    _making: Lock = field(default_factory=Lock)
    """Held while the address is made: whoever closes may then take it away for good."""
    _woken: tuple[socket.socket, socket.socket] = field(default_factory=socket.socketpair)
    _free: BoundedSemaphore = field(default_factory=lambda: BoundedSemaphore(_AT_ONCE))
    _threads: list[Thread] = field(default_factory=list)

    @classmethod
    def open(cls, wanted: int | None, **job: Unpack[Job]) -> "Server":
        """Answer at this port, or at the best there is; raises `CredentialsUnreachableError`.

        From the first moment: what the kernel gives a listener of a shared port waits for that one alone.
        """
        for port in (PORT, 0) if wanted is None else (wanted,):
            listener = open_listener(port, job["appear"])
            if listener is None:
                continue
            server = cls(listener=listener, **job)
            server.begin()
            if is_reached(listener):
                return server
            server.close()
        raise unreachable("another program uses the address")

    def begin(self) -> None:
        """Answer, and keep the credentials fresh."""
        if self.listener.shared:
            self._door = open_door(self.secret.path)
        self._threads = [
            watched_thread(self._listen, name="credentials", died=self.died),
            watched_thread(self._keep, name="credentials-keep", died=self.died),
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Nothing is answered any more."""
        with self._making:
            self._stopped.set()
        self._woken[1].close()
        for thread in self._threads[:1]:
            thread.join()
        self._leave()
        for each in (self.listener.socket, self._door, self._woken[0]):
            if each is not None:
                each.close()

    def _keep(self) -> None:
        """Renew the credentials in time, so that nobody waits, and bring the address back should it be taken away.

        No container is on its network, so that `docker network prune` removes it.
        """
        while not self._stopped.wait(_LOOK_SECONDS):
            self.fresh.keep_up()
            with self._making, suppress(SmlocalError):
                if not self._stopped.is_set() and not is_here():
                    self.appear()

    def _leave(self) -> None:
        """Whoever is waiting at a shared port may have come for another job."""
        with suppress(OSError):
            while self.listener.shared and self._threads:
                connection, _ = self.listener.socket.accept()
                self._free.acquire()
                self._serve(connection, b"")

    def _listen(self) -> None:
        with selectors.DefaultSelector() as selector:
            for each in (self.listener.socket, self._door, self._woken[0]):
                if each is not None:
                    each.setblocking(False)
                    selector.register(each, selectors.EVENT_READ)
            while not self._stopped.is_set():
                for key, _ in selector.select():
                    self._welcome(key.fileobj)

    def _welcome(self, source: object) -> None:
        came: tuple[socket.socket, bytes] | None = None
        if source is self._door and self._door is not None:
            came = take_in(self._door)
        elif source is self.listener.socket:
            with suppress(OSError):
                came = self.listener.socket.accept()[0], b""
        if came is None:
            return
        if not self._free.acquire(blocking=False):
            came[0].close()
            return
        watched_thread(partial(self._serve, *came), name="credentials-answer", died=self.died).start()

    def _serve(self, connection: socket.socket, head: bytes) -> None:
        try:
            with connection, suppress(OSError):
                handed = bool(head)
                if not handed:
                    head = _read(connection)
                asked = read_head(head)
                if asked is None:
                    connection.sendall(MALFORMED)
                elif asked.knows(self.secret, with_token=not self.listener.shared):
                    connection.sendall(self._answer(asked, connection.getpeername()[0]))
                elif handed or not self.listener.shared or not hand_over(asked.path, connection, head):
                    connection.sendall(UNKNOWN)
        finally:
            self._free.release()

    def _answer(self, asked: Asked, address: str) -> bytes:
        if not self.is_ours(address):
            return UNKNOWN
        if asked.method != "GET":
            return MALFORMED
        try:
            issued = self.fresh.current()
        except ExpiredError as error:
            return refusal(500, "InternalServerError", f"no valid credentials: {error}")
        return answer(200, issued.document(self.role_arn, time.time()))


def _read(connection: socket.socket) -> bytes:
    """The head of a request; whoever is slow, or says too much, is not waited for."""
    head = b""
    until = time.monotonic() + _PATIENCE_SECONDS
    while b"\r\n\r\n" not in head and len(head) < MOST_BYTES:
        connection.settimeout(max(0.01, until - time.monotonic()))
        piece = connection.recv(MOST_BYTES - len(head))
        if not piece:
            break
        head += piece
    return head.partition(b"\r\n\r\n")[0]
