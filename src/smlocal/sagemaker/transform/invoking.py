"""Requests to the container that serves: one after the other on each connection, repeated if they fail."""

import json
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import field
from functools import partial
from io import SEEK_END, BytesIO
from itertools import count
from threading import Condition, Lock, Thread
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Self, cast

from smlocal.base.at_use import at_use
from smlocal.base.quick_dataclass import dataclass
from smlocal.base.web import MessageError
from smlocal.sagemaker.serving.route import Address
from smlocal.sagemaker.transform import facts
from smlocal.sagemaker.transform.container_connection import BlockingConnection, CancelledError

if TYPE_CHECKING:
    from smlocal.base import gzip_errors
else:
    gzip_errors = at_use("smlocal.base.gzip_errors")

_PIECE: Final = 1 << 18
_IN_MEMORY: Final = 1 << 18
"""Bytes of an answer; the rest goes to a file. Up to two hundred wait for those before them."""
_MOST_MESSAGE: Final = 4096
"""Bytes of an error that are logged."""
_MOST_PARAMETERS: Final = 65_536
_PARAMETER_SECONDS: Final = 60.0
_OK: Final = range(200, 300)
_CLIENT: Final = range(400, 500)


Answer = BinaryIO
_NUMBERS: Final = count()
"""Numbers for the names of this process's files."""


class Spool:
    """An answer as it comes: in memory, or in a file without a name if it is large.

    `tempfile` has the same, and is imported with shutil, bz2 and lzma: 5 ms in every job.
    """

    __slots__ = ("_file", "_folder", "_room")

    def __init__(self, folder: str) -> None:
        """`folder`: for the file. Close it, or take `whole`."""
        self._file: BinaryIO = BytesIO()
        self._folder = folder
        self._room = _IN_MEMORY

    def write(self, data: bytes) -> None:
        """Append."""
        if 0 <= self._room < len(data):
            memory, self._file = self._file, _nameless_file(self._folder)
            self._file.write(cast("BytesIO", memory).getbuffer())
        self._room -= len(data)
        self._file.write(data)

    def whole(self) -> Answer:
        """The whole answer, at its beginning. The reader closes it."""
        self._file.seek(0)
        return self._file

    def close(self) -> None:
        """Drop the answer."""
        self._file.close()


def _nameless_file(folder: str) -> BinaryIO:
    path = os.path.join(folder, f".answer-{os.getpid()}-{next(_NUMBERS)}")
    with suppress(FileNotFoundError):
        os.unlink(path)  # a killed process with that id may have left it
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    os.unlink(path)
    return os.fdopen(descriptor, "w+b")


class InvocationError(Exception):
    """A request has failed for good."""

    def __init__(self, lines: Iterable[str], *, said: str = "", client: bool = False, retried: bool = True) -> None:
        """`lines` of the data log; `said`: the same in one sentence. `client`: the data is to blame."""
        self.lines = list(lines)
        self.said = said or self.lines[0]
        super().__init__(self.lines[0])
        self.client = client
        self.retried = retried


class PayloadError(Exception):
    """A payload cannot be read while it is sent."""


@dataclass(kw_only=True, slots=True)
class _Reply:
    """An answer as it comes."""

    whole: Spool
    most: int | None
    """Bytes that it may have; None: no limit."""
    status: int = 0
    size: int = 0
    message: bytes = b""
    """The beginning of one that is an error."""

    def headed(self, status: int) -> None:
        """Its status has come."""
        self.status = status

    def came(self, content: bytes) -> bool:
        """A part of it; returns False if no more is wanted."""
        if self.status not in _OK:
            self.message = (self.message + content)[:_MOST_MESSAGE]
            return len(self.message) < _MOST_MESSAGE
        self.size += len(content)
        if self.most is not None and self.size > self.most:
            return False
        self.whole.write(content)
        return True

    def check(self, *, retried: bool) -> None:
        """`InvocationError` if it is an error, or too large."""
        if self.status not in _OK:
            client = self.status in _CLIENT
            message = self.message.decode(errors="replace")
            lines, said = facts.bad_status(self.status, message), facts.answered(self.status, message)
            raise InvocationError(lines, said=said, client=client, retried=retried and not client)
        if self.most is not None and self.size > self.most:
            raise InvocationError([facts.answer_too_large(self.most)], retried=False)


@dataclass(kw_only=True, slots=True, eq=False)
class Invoker:
    """Invokes one container, from several threads."""

    address: Callable[[], Address | None]
    headers: Mapping[str, str]
    seconds: float
    """For one answer."""
    retries: int
    folder: str
    """For large answers."""
    most: int | None = None
    """Bytes of an answer; None: no limit."""
    retried: int = 0
    """Requests that were sent again."""
    _free: list[BlockingConnection] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)
    _pipe: list[int] = field(default_factory=lambda: list(os.pipe()))
    """Closing the second end wakes every request; no end is left when nobody asks any more."""
    _cancelled: bool = False

    def cancel(self) -> None:
        """End all requests now."""
        with self._lock:
            if not self._cancelled and self._pipe:
                os.close(self._pipe.pop())
            self._cancelled = True

    def close(self) -> None:
        """Nobody asks any more."""
        with self._lock:
            for each in self._free:
                each.close()
            self._free.clear()
            while self._pipe:
                os.close(self._pipe.pop())

    def spool(self) -> Spool:
        """A file for what may be large."""
        return Spool(self.folder)

    def invoke(self, payload: Any, *, chunked: bool = False) -> Answer:
        """The answer to a payload; `InvocationError` if there is none.

        `payload`: bytes, or a file; if `chunked`, pieces that are sent once, and `PayloadError` if they cannot be read.
        """
        left = self.retries
        while True:
            try:
                return self._once(payload, chunked=chunked)
            except InvocationError as error:
                if self._cancelled:
                    raise CancelledError from error
                if not left or not error.retried:
                    raise
                left -= 1
                with self._lock:
                    self.retried += 1

    def parameters(self) -> Mapping[str, Any] | None:
        """What the container answers to /execution-parameters; nothing if it has no such answer.

        None if that is no JSON object.
        """
        with closing(self.spool()) as whole:
            reply = _Reply(whole=whole, most=_MOST_PARAMETERS)
            try:
                connection = self._connected(_PARAMETER_SECONDS)
                try:
                    request = iter([_head("GET", "/execution-parameters", {})])
                    connection.ask(request, seconds=_PARAMETER_SECONDS, headed=reply.headed, came=reply.came)
                finally:
                    connection.close()
            except (InvocationError, MessageError, OSError):
                return {}
            if reply.status not in _OK:
                return {}
            try:
                found = json.loads(whole.whole().read())
            except (ValueError, RecursionError):
                return None
        return found if isinstance(found, dict) else None

    def _once(self, payload: Any, *, chunked: bool) -> Answer:
        try:
            connection = None if chunked else self._taken()
            if connection is not None:
                try:
                    return self._exchanged(connection, payload, chunked=chunked)
                except (BrokenPipeError, ConnectionResetError):
                    pass  # servers close unused connections without notice: not a failed request
            return self._exchanged(self._connected(self.seconds), payload, chunked=chunked)
        except TimeoutError as error:
            raise InvocationError([facts.timed_out(self.seconds)], retried=not chunked) from error
        except (OSError, MessageError) as error:
            raise InvocationError([facts.NO_ANSWER], retried=not chunked) from error

    def _exchanged(self, connection: BlockingConnection, payload: Any, *, chunked: bool) -> Answer:
        whole = self.spool()
        reply = _Reply(whole=whole, most=self.most)
        try:
            request = _request(self.headers, payload, chunked=chunked)
            connection.ask(request, seconds=self.seconds, headed=reply.headed, came=reply.came)
            reply.check(retried=not chunked)
        except BaseException:
            whole.close()
            raise
        finally:
            self._given_back(connection)
        return whole.whole()

    def _taken(self) -> BlockingConnection | None:
        """A connection that was used before and is still open."""
        with self._lock:
            while self._free:
                found = self._free.pop()
                if found.quiet:
                    return found
                found.close()
        return None

    def _connected(self, seconds: float) -> BlockingConnection:
        """A new connection."""
        where = self.address()
        with self._lock:
            if self._cancelled:
                raise CancelledError
            if where is None:
                raise InvocationError([facts.NO_ANSWER])
            connection = BlockingConnection(where, self._pipe[0])
        try:
            connection.connect(seconds)
        except BaseException:
            connection.close()
            raise
        return connection

    def _given_back(self, connection: BlockingConnection) -> None:
        if not connection.reusable:
            connection.close()
            return
        with self._lock:
            self._free.append(connection)


def _head(method: str, path: str, headers: Mapping[str, str]) -> bytes:
    """As the service's client writes it: what is not ASCII in UTF-8."""
    every = {"Host": "localhost:8080", "User-Agent": facts.USER_AGENT, **headers}
    lines = "".join([f"{name}: {value}\r\n" for name, value in every.items()])
    return f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode()


def _request(headers: Mapping[str, str], payload: Any, *, chunked: bool) -> Iterator[bytes]:
    """A request in pieces."""
    if chunked:
        yield _head("POST", "/invocations", {**headers, "Transfer-Encoding": "chunked"})
        for piece in _guarded(payload):
            yield b"%x\r\n%b\r\n" % (len(piece), piece)
        yield b"0\r\n\r\n"
        return
    size = len(payload) if isinstance(payload, bytes) else payload.seek(0, SEEK_END)
    head = _head("POST", "/invocations", {**headers, "Content-Length": str(size)})
    if not isinstance(payload, bytes):
        payload.seek(0)
        yield head
        yield from _guarded(iter(partial(payload.read, _PIECE), b""))
    elif size <= _PIECE:
        yield head + payload
    else:
        yield head
        yield payload


def _guarded(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """What is sent. Its errors are not those of the connection, though both may be an `OSError`."""
    try:
        yield from pieces
    except (OSError, *gzip_errors.GZIP_ERRORS) as error:
        raise PayloadError(str(error)) from error


class Workers:
    """Threads that run given functions in order. A thread starts when all others are busy.

        with Workers(4, name="asks") as workers:
            workers.give(work)

    The end of the block waits for all work, then raises the first exception.
    """

    def __init__(self, most: int, *, name: str) -> None:
        """`most`: the most threads."""
        self._most, self._name = most, name
        self._threads: list[Thread] = []
        self._given: deque[Callable[[], None]] = deque()
        self._idle = 0
        self._over = False
        self._error: BaseException | None = None
        self._changed = Condition()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._over = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()
        if self._error is not None:
            raise self._error

    def give(self, work: Callable[[], None]) -> None:
        """Run `work` as soon as a thread is free."""
        with self._changed:
            if len(self._given) >= self._idle and len(self._threads) < self._most:
                thread = Thread(target=self._work, name=f"{self._name}-{len(self._threads)}")
                thread.start()
                self._threads.append(thread)
            self._given.append(work)
            self._changed.notify()

    def _work(self) -> None:
        while (work := self._next()) is not None:
            try:
                work()
            except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
                self._error = self._error or error
            del work  # free its memory before the wait

    def _next(self) -> Callable[[], None] | None:
        """The next work; None at the end."""
        with self._changed:
            self._idle += 1
            self._changed.wait_for(lambda: self._given or self._over)
            self._idle -= 1
            return self._given.popleft() if self._given else None
