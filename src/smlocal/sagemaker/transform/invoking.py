"""Requests to the container that serves: one after the other on each connection, repeated if they fail."""

import http.client
import json
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import field
from http.client import HTTPResponse
from tempfile import SpooledTemporaryFile
from threading import Lock
from typing import Any, BinaryIO, Final

from smlocal.base.gzip_errors import GZIP_ERRORS
from smlocal.base.quick_dataclass import dataclass
from smlocal.sagemaker.transform import facts

_PIECE: Final = 1 << 18
_IN_MEMORY: Final = 8 << 20
"""Bytes of an answer; the rest goes to a file."""
_MOST_MESSAGE: Final = 4096
"""Bytes of an error that are logged."""
_MOST_PARAMETERS: Final = 65_536
_CONNECT_SECONDS: Final = 5.0
_CONNECT_STEP: Final = 0.5
_PARAMETER_SECONDS: Final = 60.0
_OK: Final = range(200, 300)
_CLIENT: Final = range(400, 500)

Answer = SpooledTemporaryFile[bytes]


class InvocationError(Exception):
    """A request has failed for good."""

    def __init__(self, lines: Iterable[str], *, client: bool = False, retried: bool = True) -> None:
        """`lines` of the data log. `client`: the data is to blame."""
        self.lines = list(lines)
        super().__init__(self.lines[0])
        self.client = client
        self.retried = retried


class PayloadError(Exception):
    """A payload cannot be read while it is sent."""


class CancelledError(Exception):
    """The job is being stopped."""


@dataclass(kw_only=True, slots=True, eq=False)
class Invoker:
    """Invokes one container, from several threads."""

    address: Callable[[], tuple[str, int] | None]
    headers: Mapping[str, str]
    seconds: float
    """For one answer."""
    retries: int
    folder: str
    """For large answers."""
    _connections: set[http.client.HTTPConnection] = field(default_factory=set)
    _free: list[http.client.HTTPConnection] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)
    _cancelled: bool = False

    def cancel(self) -> None:
        """End all requests now."""
        with self._lock:
            self._cancelled = True
            for each in self._connections:
                if each.sock is not None:
                    with suppress(OSError):
                        each.sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the connections, which nobody uses any more."""
        with self._lock:
            for each in self._free:
                each.close()
            self._free.clear()

    def invoke(self, payload: Any, *, chunked: bool = False) -> Answer:
        """The answer to a payload; `InvocationError` if there is none.

        `payload`: bytes, or a file if `chunked`; `PayloadError` if it cannot be read.
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

    def parameters(self) -> Mapping[str, Any]:
        """What the container answers to /execution-parameters; nothing if it has no such answer."""
        where = self.address()
        if where is None:
            return {}
        with closing(http.client.HTTPConnection(*where, timeout=_PARAMETER_SECONDS)) as connection:
            try:
                self._send(connection, "GET", "/execution-parameters", None, chunked=False)
                answer = connection.getresponse()
                if answer.status not in _OK:
                    return {}
                found = json.loads(answer.read(_MOST_PARAMETERS))
            except (OSError, http.client.HTTPException, ValueError):
                return {}
        return found if isinstance(found, dict) else {}

    def _once(self, payload: Any, *, chunked: bool) -> Answer:
        connection, reused = self._taken()
        try:
            try:
                return self._exchanged(connection, payload, chunked=chunked)
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                if not reused or chunked or self._cancelled:
                    raise
                # Servers close connections that were not used for a while without a word: that is no failed request.
                connection.close()
                return self._exchanged(connection, payload, chunked=chunked)
        except TimeoutError as error:
            connection.close()
            raise InvocationError([facts.timed_out(self.seconds)], retried=not chunked) from error
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise InvocationError([facts.NO_ANSWER], retried=not chunked) from error
        except BaseException:  # a request or an answer may be there in part
            connection.close()
            raise
        finally:
            self._given_back(connection)

    def _exchanged(self, connection: http.client.HTTPConnection, payload: Any, *, chunked: bool) -> Answer:
        deadline = time.monotonic() + self.seconds
        if connection.sock is None:
            self._connect(connection)
        connection.sock.settimeout(self.seconds)
        answer = self._answer(connection, payload, chunked=chunked)
        if answer.status not in _OK:
            message = answer.read(_MOST_MESSAGE).decode(errors="replace")
            client = answer.status in _CLIENT
            lines = facts.bad_status(answer.status, message)
            raise InvocationError(lines, client=client, retried=not client and not chunked)
        whole = SpooledTemporaryFile(_IN_MEMORY, dir=self.folder)  # noqa: SIM115 - the caller closes it
        try:
            for piece in _pieces(connection, answer, deadline):
                whole.write(piece)
        except BaseException:
            whole.close()
            raise
        answer.close()  # else the connection counts as busy
        whole.seek(0)
        return whole

    def _answer(self, connection: http.client.HTTPConnection, payload: Any, *, chunked: bool) -> HTTPResponse:
        try:
            self._send(connection, "POST", "/invocations", payload, chunked=chunked)
        except (BrokenPipeError, ConnectionResetError):
            # A server that refuses a large request does not read it, and has answered.
            with suppress(OSError, http.client.HTTPException):
                return connection.getresponse()
            raise
        return connection.getresponse()

    def _connect(self, connection: http.client.HTTPConnection) -> None:
        """Try for some seconds, in short steps: a container may have ended, and its address does not answer."""
        deadline = time.monotonic() + min(_CONNECT_SECONDS, self.seconds)
        while connection.sock is None:
            connection.timeout = _CONNECT_STEP
            try:
                connection.connect()
            except TimeoutError:
                if self._cancelled or time.monotonic() >= deadline:
                    raise
        if self._cancelled:
            raise CancelledError

    def _send(
        self, connection: http.client.HTTPConnection, method: str, path: str, payload: Any, *, chunked: bool
    ) -> None:
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        own = {} if payload is None else self.headers
        for name, value in {"Host": "localhost:8080", "User-Agent": facts.USER_AGENT, **own}.items():
            connection.putheader(name, value)
        if chunked:
            connection.putheader("Transfer-Encoding", "chunked")
            connection.endheaders(_read(payload), encode_chunked=True)
        elif payload is None:
            connection.endheaders()
        else:
            connection.putheader("Content-Length", str(len(payload)))
            connection.endheaders(payload)

    def _taken(self) -> tuple[http.client.HTTPConnection, bool]:
        """A connection, and whether it was used before."""
        where = self.address()
        with self._lock:
            if self._cancelled:
                raise CancelledError
            if self._free:
                connection = self._free.pop()
                return connection, connection.sock is not None
            if where is None:
                raise InvocationError([facts.NO_ANSWER])
            connection = http.client.HTTPConnection(*where)
            self._connections.add(connection)
            return connection, False

    def _given_back(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            self._free.append(connection)


def _read(payload: BinaryIO) -> Iterator[bytes]:
    """What is sent. Its errors are not those of the connection, though both may be an `OSError`."""
    try:
        while piece := payload.read(_PIECE):
            yield piece
    except (OSError, *GZIP_ERRORS) as error:
        raise PayloadError(str(error)) from error


def _pieces(connection: http.client.HTTPConnection, answer: HTTPResponse, deadline: float) -> Iterator[bytes]:
    """The body of an answer; `TimeoutError` if it is not there in time."""
    while piece := answer.read1(_PIECE):
        yield piece
        if connection.sock is not None:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            connection.sock.settimeout(left)
    if answer.length:
        raise http.client.IncompleteRead(b"", answer.length)
