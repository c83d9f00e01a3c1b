"""HTTP/1.1 as far as engines need it, within the time limits of calls."""

import contextlib
import json
import math
import os
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from io import BufferedReader, RawIOBase
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, assert_never

from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import UsageRefusedError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

# `CallLimit` holds one call to them, and says how a silence is treated while no bytes arrive.

VARIABLE = "SMLOCAL_ENGINE_TIMEOUT"
_DEFAULT = 60.0
_LONGEST = 86_400.0
_ROUNDING = 0.01
"""Seconds by which a timeout may come early."""


class Call(StrEnum):
    """Kinds of calls with different limits."""

    GREETING = "greeting"
    """The first call; slow through ssh."""
    GLANCE = "glance"
    """A check whether the engine or a container is there."""
    QUESTION = "question"
    ACTION = "action"
    """Makes, starts or removes something."""
    STREAM = "stream"
    """Any number of bytes in either direction: a pull, an archive, a log."""
    WAIT = "wait"
    """Waits for an event, perhaps for days."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Timeouts:
    """In seconds."""

    lost: float = _DEFAULT
    """The time in which a job ends after its engine is lost."""

    @property
    def connect(self) -> float:
        """To connect, including TLS."""
        return self.lost / 4

    @property
    def silence(self) -> float:
        """Silence after which the engine is checked."""
        return self.lost / 4

    @property
    def again(self) -> float:
        """For the first answer of a lost engine."""
        return self.lost / 30

    @property
    def back(self) -> float:
        """How long clean-up waits for a lost engine, which is often only restarting."""
        return self.lost / 4

    @property
    def killed(self) -> float:
        """The time in which a container must end after SIGKILL."""
        return self.lost

    def total(self, call: Call) -> float:
        """For a whole call."""
        match call:
            case Call.GLANCE:
                return self.lost / 6
            case Call.GREETING | Call.QUESTION:
                return self.lost / 2
            case Call.ACTION:
                return self.lost * 2
            case Call.STREAM | Call.WAIT:
                return math.inf
            case _:
                assert_never(call)

    def quiet(self, call: Call) -> float:
        """The longest silence of an engine that is there."""
        return self.lost * 10 if call is Call.STREAM else math.inf


def chosen_timeouts() -> Timeouts:
    """The limits from the environment, or the default."""
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return Timeouts()
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= _LONGEST:
        raise UsageRefusedError(
            f"{VARIABLE}={text} is not a number of seconds",
            remedy=[f"Set it to a number above 0 and up to {_LONGEST:.0f}, or unset it for {_DEFAULT:.0f}."],
        )
    return Timeouts(lost=seconds)


class SlowAnswerError(Exception):
    """A call has taken longer than its limit."""


class CallLimit:
    """Starts when it is made. The sender and receiver report progress, and it raises when a limit is reached."""

    __slots__ = ("_moved_at", "_quiet", "_still", "_total", "_until", "pause")

    def __init__(self, *, pause: float, total: float, quiet: float, still: Callable[[], None]) -> None:
        """After each `pause` without a byte, `still` is called, which raises to end the call."""
        self._total, self._quiet, self._still = total, quiet, still
        self._moved_at = time.monotonic()
        self._until = self._moved_at + total
        self.pause = min(pause, total, quiet)

    def lift(self) -> None:
        """The call has been answered, and a stream follows that may take any time."""
        self._until = self._quiet = math.inf

    def moved(self) -> None:
        """Bytes were sent or received."""
        self._moved_at = time.monotonic()
        if self._moved_at >= self._until:
            raise SlowAnswerError(f"no complete answer within {self._total:g} s")

    def silent(self) -> None:
        """No byte was sent or received for a pause."""
        now = time.monotonic() + _ROUNDING
        if now >= self._until:
            raise SlowAnswerError(f"no answer within {self._total:g} s")
        if now - self._moved_at >= self._quiet:
            raise SlowAnswerError(f"no data for {self._quiet:g} s")
        self._still()


_PIECE = 256 * 1024
_BUFFER = 64 * 1024
_MOST_BODY = 64 * 1024 * 1024
"""The largest body that is read at once: a list of about ten thousand containers."""
_MOST_TEXT_LINE = 4 * 1024 * 1024
"""The longest line of a body."""
_MAX_LINE = 64 * 1024
_MAX_HEADERS = 256
_NOT_COPIED = 64 * 1024
"""From this size on, a piece is sent as it is: copies made 2 GB take 1.2 s of processor time instead of 0.5 s."""
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")


class BrokenAnswerError(Exception):
    """The connection was closed too early, or the answer is not HTTP."""


class UnexpectedAnswerError(BrokenAnswerError):
    """The answer is valid HTTP, but not from an engine."""


def quote(text: str) -> str:
    """Percent-encode for a path or a query, except `/`, which image names contain."""
    return "".join(chr(byte) if byte in _UNRESERVED else f"%{byte:02X}" for byte in text.encode())


def query(parameters: Mapping[str, str]) -> str:
    """A query string with its question mark; empty without parameters."""
    return "?" + "&".join(f"{quote(key)}={quote(value)}" for key, value in parameters.items()) if parameters else ""


class _Incoming(RawIOBase):
    """Reads from a connection within the limits of a call."""

    def __init__(self, connection: socket.socket, limit: CallLimit) -> None:
        super().__init__()
        self._connection, self._limit = connection, limit

    def readable(self) -> bool:
        """BufferedReader asks for it."""
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Wait for bytes, unless the connection does not block."""
        while True:
            try:
                count = self._connection.recv_into(buffer)
            except TimeoutError as error:
                if error.errno is not None:  # from the kernel: the connection is dead
                    raise
                self._limit.silent()
            else:
                self._limit.moved()
                return count


class Answer:
    """An answer. Its head has been read; the body is read on request. Each answer has its own connection."""

    __slots__ = ("_connection", "_limit", "_reader", "headers", "status")

    def __init__(self, connection: socket.socket, reader: "BufferedReader[Any]", limit: CallLimit) -> None:
        """Read the head; skip interim answers."""
        self._connection = connection
        self._limit = limit
        self._reader = reader
        self.status, self.headers = _read_head(reader)
        while 100 <= self.status < 200 and self.status != 101:  # noqa: PLR2004  interim answers of HTTP
            self.status, self.headers = _read_head(reader)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def pieces(self) -> Iterator[bytes]:
        """Yield the body as it arrives; raises `BrokenAnswerError` if it is incomplete."""
        try:
            yield from self._pieces()
        except OSError as error:
            raise BrokenAnswerError(str(error)) from error

    def _pieces(self) -> Iterator[bytes]:
        if self.status in {204, 304}:
            return
        if "chunked" in self.headers.get("transfer-encoding", "").lower():
            while size := _chunk_size(self._reader):
                yield from _exactly(self._reader, size)
                if self._reader.read(2) != b"\r\n":
                    raise BrokenAnswerError("a chunk does not end where it should")
            while _line(self._reader):
                pass
        elif "content-length" in self.headers:
            yield from _exactly(self._reader, _number(self.headers["content-length"], 10))
        else:
            yield from self.rest()

    def rest(self) -> Iterator[bytes]:
        """Yield everything until the connection is closed: the stream of an upgraded connection."""
        while piece := self._reader.read1(_PIECE):
            yield piece

    def lines(self) -> Iterator[bytes]:
        """Yield the body's lines as they arrive."""
        kept = b""
        for piece in self.pieces():
            *lines, kept = (kept + piece).split(b"\n")
            yield from lines
            if len(kept) > _MOST_TEXT_LINE:
                raise UnexpectedAnswerError(f"a line of more than {_MOST_TEXT_LINE >> 20} MiB")
        if kept:
            yield kept

    def read(self) -> bytes:
        """Read the whole body."""
        pieces, size = [], 0
        for piece in self.pieces():
            size += len(piece)
            if size > _MOST_BODY:
                raise UnexpectedAnswerError(f"an answer of more than {_MOST_BODY >> 20} MiB")
            pieces.append(piece)
        return b"".join(pieces)

    def json(self) -> Any:
        """Read the whole body as a JSON document; None for an empty one."""
        body = self.read()
        try:
            return json.loads(body) if body.strip() else None
        except ValueError as error:
            raise UnexpectedAnswerError(f"a body is not JSON: {body[:80]!r}") from error

    def unlimit(self) -> None:
        """Remove the time limits."""
        self._connection.settimeout(None)
        self._limit.lift()

    def take_connection(self) -> tuple[socket.socket, bytes]:
        """The connection, which does not block from now on, and the bytes of the stream that have been read already."""
        self._connection.setblocking(False)
        try:
            early = self._reader.peek()
        except OSError:  # nothing has been read
            early = b""
        return self._connection, early

    def shutdown(self) -> None:
        """End the stream for a thread that is reading it."""
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the connection."""
        self._reader.close()
        self._connection.close()


def exchange(
    connection: socket.socket,
    method: str,
    target: str,
    *,
    limit: CallLimit,
    headers: Mapping[str, str] | None = None,
    body: bytes | Iterable[bytes] | None = None,
) -> Answer:
    """Send a request and read the head of the answer, which owns the connection. On failure it is closed.

    An iterable body is sent piece by piece.
    """
    fields = {"Host": "docker", "Connection": "close", **(headers or {})}
    if body is not None and not isinstance(body, bytes):
        fields["Transfer-Encoding"] = "chunked"
        body = _chunks(body)
    elif body is not None or method != "GET":
        fields["Content-Length"] = str(len(body or b""))
    head = f"{method} {target} HTTP/1.1\r\n" + "".join(f"{key}: {value}\r\n" for key, value in fields.items()) + "\r\n"
    connection.settimeout(limit.pause)
    reader = BufferedReader(_Incoming(connection, limit), _BUFFER)
    try:
        # An engine may refuse a long body and close the connection. Its answer can then be read.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            _send(connection, head.encode("latin-1"), limit)
            for piece in (body,) if isinstance(body, bytes) else body or ():
                _send(connection, piece, limit)
        return Answer(connection, reader, limit)
    except BaseException as error:
        reader.close()
        connection.close()
        if isinstance(error, OSError):
            raise BrokenAnswerError(str(error)) from error
        raise


def _send(connection: socket.socket, data: bytes, limit: CallLimit) -> None:
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[connection.send(rest) :]
        except TimeoutError as error:
            if error.errno is not None:
                raise
            limit.silent()
        else:
            limit.moved()


def _chunks(pieces: Iterable[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        if len(piece) >= _NOT_COPIED:
            yield b"%x\r\n" % len(piece)
            yield piece
            yield b"\r\n"
        elif piece:  # an empty chunk means the end
            yield b"%x\r\n%b\r\n" % (len(piece), piece)
    yield b"0\r\n\r\n"


def _line(reader: BufferedReader) -> bytes:
    line = reader.readline(_MAX_LINE)
    if not line.endswith(b"\n"):
        raise BrokenAnswerError("the connection was closed early" if len(line) < _MAX_LINE else "a line has no end")
    return line.strip()


def _read_head(reader: BufferedReader) -> tuple[int, dict[str, str]]:
    parts = _line(reader).split(None, 2)
    if len(parts) < 2 or not parts[0].startswith(b"HTTP/1.") or not parts[1].isdigit():  # noqa: PLR2004  version and status
        raise BrokenAnswerError(f"an answer begins with {b' '.join(parts)[:80]!r}")
    headers: dict[str, str] = {}
    for _ in range(_MAX_HEADERS):
        line = _line(reader)
        if not line:
            return int(parts[1]), headers
        key, _, value = line.partition(b":")
        headers[key.decode("latin-1").lower()] = value.strip().decode("latin-1")
    raise BrokenAnswerError("an answer has no end of headers")


def _chunk_size(reader: BufferedReader) -> int:
    return _number(_line(reader).partition(b";")[0].decode("latin-1"), 16)


def _number(text: str, base: int) -> int:
    try:
        number = int(text, base)
    except ValueError:
        number = -1
    if number < 0:
        raise BrokenAnswerError(f"{text[:80]!r} is not a length")
    return number


def _exactly(reader: BufferedReader, size: int) -> Iterator[bytes]:
    while size:
        piece = reader.read(min(size, _PIECE))
        if not piece:
            raise BrokenAnswerError("the connection was closed early")
        size -= len(piece)
        yield piece
