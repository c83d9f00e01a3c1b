"""Many connections in one thread: what arrives is given to them, what they write is sent when it can be.

asyncio would do the same, but takes five times as long for a message and a twentieth of a second to import.
"""

import errno
import os
import resource
import select
import selectors
import socket
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from typing import Any, Final

READ: Final = selectors.EVENT_READ
WRITE: Final = selectors.EVENT_WRITE
_PIECE: Final = 65_536
"""Bytes that are read at once."""
_MUCH: Final = 65_536
"""Bytes that wait to be sent to somebody who does not keep up."""
_AT_ONCE: Final = 16
"""Pieces that are sent at once."""
_REFUSED_SECONDS: Final = 1.0
"""Until connections are accepted again, after there were too many."""
_NOT_NOW: Final = (BlockingIOError, InterruptedError)


class Timer:
    """Something that is called later, unless it is cancelled."""

    __slots__ = ("_among", "at", "call")

    def __init__(self, at: float, call: Callable[[], None], among: "dict[Timer, None]") -> None:
        """`at`: by the monotonic clock. `among`: all that wait as long."""
        self.at, self.call, self._among = at, call, among
        among[self] = None

    def cancel(self) -> None:
        """Do not call it."""
        self._among.pop(self, None)


class Loop:
    """Waits for sockets, timers and other threads."""

    def __init__(self) -> None:
        """Nothing happens before `run`."""
        self.selector = selectors.DefaultSelector()
        self.soon: deque[Callable[[], None]] = deque()
        """Called as soon as the callback that is running has returned."""
        self._timers: dict[float, dict[Timer, None]] = {}
        """By the seconds that they wait: each begins with the one that is next."""
        self._over = False
        self._woken, self._waker = socket.socketpair()
        for each in (self._woken, self._waker):
            each.setblocking(False)
        self.selector.register(self._woken, READ, self._wake)

    def call(self, function: Callable[[], None]) -> None:
        """From another thread: call it in the loop's."""
        self.soon.append(function)
        with suppress(OSError):  # it is being woken, or has ended
            self._waker.send(b"\0")

    def after(self, seconds: float, call: Callable[[], None]) -> Timer:
        """Call it then."""
        among = self._timers.get(seconds)
        if among is None:
            among = self._timers[seconds] = {}
        return Timer(time.monotonic() + seconds, call, among)

    def stop(self) -> None:
        """End `run`."""
        self._over = True

    def run(self) -> None:
        """Until `stop`."""
        selector, soon = self.selector, self.soon
        while not self._over:
            for key, events in selector.select(0 if soon else self._pause()):
                key.data(events)
            while soon:
                soon.popleft()()
            self._fire()

    def close(self) -> None:
        """Give back what it has opened."""
        self.selector.close()
        self._woken.close()
        self._waker.close()

    def _wake(self, _: int) -> None:
        with suppress(*_NOT_NOW):
            self._woken.recv(4096)

    def _pause(self) -> float | None:
        first = [next(iter(among)).at for among in self._timers.values() if among]
        return max(0.0, min(first) - time.monotonic()) if first else None

    def _fire(self) -> None:
        now = 0.0
        for among in list(self._timers.values()):  # what is called may wait for as long as nothing else does
            while among:
                timer = next(iter(among))
                now = now or time.monotonic()
                if timer.at > now:
                    break
                timer.cancel()
                timer.call()


class Connection:
    """One of them. A subclass says what is done with what arrives."""

    __slots__ = (
        *("_arrived", "_closing", "_connecting", "_events", "_full", "_loop", "_out", "_socket", "_unsent"),
        "closed",
    )

    def __init__(self, loop: Loop, connected: socket.socket, *, connecting: bool = False) -> None:
        """`connecting`: it is not there yet, what is written waits."""
        self._loop, self._socket = loop, connected
        self._out: deque[memoryview] = deque()
        """What waits to be sent. It is not copied: a request may have many megabytes."""
        self._unsent = 0
        self._full = self._closing = self.closed = False
        self._connecting = connecting
        self._events = WRITE if connecting else READ
        connected.setblocking(False)
        if connected.family != socket.AF_UNIX:
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._arrived = select.poll()
        self._arrived.register(connected, select.POLLIN)
        loop.selector.register(connected, self._events, self._ready)

    def received(self, data: bytes) -> None:
        """These bytes have arrived."""
        raise NotImplementedError

    def ended(self, error: Exception | None) -> None:
        """The other side sends no more; with an error nothing can be sent to it either, and it is closed."""
        raise NotImplementedError

    def full(self, *, full: bool) -> None:
        """Much waits to be sent, or no more."""

    def flushed(self) -> None:
        """All that waited was sent."""

    def connected(self) -> None:
        """It has been made."""

    @property
    def done(self) -> bool:
        """True if it was closed, or is when all was sent."""
        return self.closed or self._closing

    @property
    def unsent(self) -> int:
        """Bytes that wait to be sent."""
        return self._unsent

    @property
    def quiet(self) -> bool:
        """True if nothing has arrived, nor the end."""
        return not self.closed and not self._arrived.poll(0)

    def read(self, *, on: bool) -> None:
        """Take what arrives, or leave it where it is."""
        self._watch(self._events | READ if on else self._events & ~READ)

    def write(self, data: bytes | memoryview) -> None:
        """Send it, or keep what cannot be sent now. It must not change."""
        if self.closed:
            return
        sent = 0
        if not self._out and not self._connecting:
            try:
                sent = self._socket.send(data)
            except _NOT_NOW:
                pass
            except OSError as error:
                self._loop.soon.append(lambda error=error: self._lost(error))  # type: ignore[misc] # bound at once
                return
        if sent < len(data):
            self._out.append(memoryview(data)[sent:])
            self._unsent += len(data) - sent
            self._watch(self._events | WRITE)
            if self._unsent > _MUCH and not self._full:
                self._full = True
                self.full(full=True)

    def close(self, *, at_once: bool = False) -> None:
        """End it; unless `at_once`, when all was sent."""
        if self.closed:
            return
        if self._out and not at_once:
            self._closing = True
            self.read(on=False)
            return
        self.closed = True
        self._out.clear()
        if self._events:
            self._loop.selector.unregister(self._socket)
        self._socket.close()

    def _ready(self, events: int) -> None:
        if self._connecting:
            self._connected()
        elif events & WRITE:
            self._flush()
        if events & READ and self._events & READ and not self.closed:
            try:
                data = self._socket.recv(_PIECE)
            except _NOT_NOW:
                return
            except OSError as error:
                self._lost(error)
                return
            if data:
                self.received(data)
            else:
                self.read(on=False)
                self.ended(None)

    def _connected(self) -> None:
        found = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if found:
            self._lost(OSError(found, os.strerror(found)))
            return
        self._connecting = False
        self.connected()
        self._watch(READ)
        self._flush()

    def _flush(self) -> None:
        try:
            sent = self._socket.sendmsg(list(islice(self._out, _AT_ONCE))) if self._out else 0
        except _NOT_NOW:
            return
        except OSError as error:
            self._lost(error)
            return
        self._unsent -= sent
        while sent:
            first = self._out.popleft()
            if len(first) > sent:
                self._out.appendleft(first[sent:])
            sent = max(0, sent - len(first))
        if self._out:
            self._watch(self._events | WRITE)
            return
        self._watch(self._events & ~WRITE)
        self.flushed()
        if self._closing:
            self.close(at_once=True)
        elif self._full:
            self._full = False
            self.full(full=False)

    def _watch(self, events: int) -> None:
        if self.closed or events == self._events:
            return
        selector, before, self._events = self._loop.selector, self._events, events
        if not before:
            selector.register(self._socket, events, self._ready)
        elif events:
            selector.modify(self._socket, events, self._ready)
        else:
            selector.unregister(self._socket)

    def _lost(self, error: Exception) -> None:
        if not self.closed:
            self.close(at_once=True)
            self.ended(error)


def connecting(address: tuple[str, int]) -> socket.socket:
    """A socket that is being connected. It says later how that ended."""
    made = socket.socket(socket.AF_INET6 if ":" in address[0] else socket.AF_INET, socket.SOCK_STREAM)
    made.setblocking(False)
    made.connect_ex(address)
    return made


def allow_many() -> None:
    """Let this process open as many files as it may: many clients come at once."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):  # macOS calls it unlimited, and refuses that
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def accept_from(loop: Loop, listener: socket.socket, accepted: Callable[[socket.socket], Any]) -> None:
    """Give each connection that is made."""
    listener.setblocking(False)

    def ready(_: int) -> None:
        try:
            accepted(listener.accept()[0])
        except OSError as error:
            if error.errno in {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}:
                loop.selector.unregister(listener)
                loop.after(_REFUSED_SECONDS, watch)

    def watch() -> None:
        loop.selector.register(listener, READ, ready)

    watch()
