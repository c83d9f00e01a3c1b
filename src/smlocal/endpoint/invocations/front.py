"""Answers `sagemaker-runtime`: passes invocations on to the addresses of endpoints on this machine."""

import asyncio
import json
import re
import struct
import time
from binascii import crc32
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import field
from functools import partial
from typing import Any, Final
from uuid import uuid4

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse

from smlocal.base.quick_dataclass import dataclass
from smlocal.base.unix_sockets import connect_to
from smlocal.base.web import BODY_SECONDS, Body, BodyContent, MessageError, MessageHead, take_head
from smlocal.endpoint.large_requests import in_thread, room_for_body, states_more
from smlocal.endpoint.serving import Serving
from smlocal.endpoint.signature import Problem
from smlocal.errors import JobUnknownError
from smlocal.jobs.control.orphans import ensure_supervised
from smlocal.jobs.documents import PLAN
from smlocal.sagemaker.serving import facts
from smlocal.sagemaker.serving.address import socket_path
from smlocal.sagemaker.serving.named_endpoint import IN_SERVICE, UPDATING, find_endpoint
from smlocal.sagemaker.serving.state import invocation_seconds, stream_seconds

_PIECE: Final = 65_536
_MOST_IDLE: Final = 256
_CONNECT_SECONDS: Final = 5.0


class BrokenOffError(Exception):
    """An answer ends too early. Its beginning may have been passed on."""


@dataclass(kw_only=True, slots=True)
class _Connection:
    """One to the supervisor of an endpoint."""

    path: str
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    used: bool = False


@dataclass(kw_only=True, slots=True)
class EndpointAnswer:
    """An answer whose body is still to come."""

    head: MessageHead
    _body: Body
    _begun: bytes
    """What came of the body with the head."""
    _connection: _Connection
    _pool: "Connections"

    @property
    def status(self) -> int:
        """The status code."""
        return int(self.head.first[1])

    @property
    def headers(self) -> Mapping[str, str]:
        """By the name in small letters."""
        return self.head.headers

    @property
    def length(self) -> int | None:
        """Bytes of the body; None if it comes in chunks."""
        return self._body.length

    async def read(self) -> bytes:
        """The whole body."""
        return b"".join([piece async for piece in self.pieces()])

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body as it comes."""
        body, data = self._body, self._begun
        reusable = False
        try:
            while True:
                content, data = body.take(data)
                if content:
                    yield content
                if body.ended:
                    reusable = not data
                    return
                data = await self._connection.reader.read(_PIECE)
                if not data:
                    body.end()
        except (OSError, MessageError) as error:
            raise BrokenOffError(str(error)) from error
        finally:
            if reusable:
                self._pool.keep(self._connection)
            else:
                self._connection.writer.close()


@dataclass(kw_only=True, slots=True)
class Connections:
    """Those that carry no request. Used by the tasks of one loop.

    They are made to the socket in the folder of a job: no other program can be there.
    """

    _idle: dict[str, list[_Connection]] = field(default_factory=dict)

    async def ask(self, path: str, request: Sequence[bytes | memoryview], *, seconds: float) -> EndpointAnswer:
        """The head of the answer. `OSError` if nothing listens at this socket, or it does not answer in time."""
        async with asyncio.timeout(seconds):
            while True:
                connection = self._kept(path) or await _connected(path)
                try:
                    for piece in request:
                        await _send(connection.writer, piece)
                    return await self._answer(connection)
                except BaseException as error:
                    connection.writer.close()
                    # One that was kept may have been closed meanwhile: nobody has read the request.
                    if not (connection.used and isinstance(error, ConnectionError)):
                        raise

    def keep(self, connection: _Connection) -> None:
        """It can be used again."""
        idle = self._idle.setdefault(connection.path, [])
        if len(idle) < _MOST_IDLE:
            connection.used = True
            idle.append(connection)
        else:
            connection.writer.close()

    def close(self) -> None:
        """Close those that carry no request."""
        for each in self._idle.values():
            for connection in each:
                with suppress(RuntimeError):  # the loop has ended
                    connection.writer.close()
        self._idle.clear()

    def _kept(self, path: str) -> _Connection | None:
        idle = self._idle.get(path, [])
        while idle:
            connection = idle.pop()
            if not connection.reader.at_eof():
                return connection
            connection.writer.close()
        return None

    async def _answer(self, connection: _Connection) -> EndpointAnswer:
        data = b""
        try:
            while True:
                head, data = take_head(data)
                if head is not None:
                    body = Body(head, to_the_end=True)
                    return EndpointAnswer(head=head, _body=body, _begun=data, _connection=connection, _pool=self)
                piece = await connection.reader.read(_PIECE)
                if not piece:
                    raise ConnectionResetError("the connection ends without an answer")
                data += piece
        except MessageError as error:
            raise OSError(str(error)) from error


async def _connected(path: str) -> _Connection:
    made = await in_thread(partial(connect_to, path, seconds=_CONNECT_SECONDS))
    made.setblocking(False)
    reader, writer = await asyncio.open_unix_connection(sock=made)
    return _Connection(path=path, reader=reader, writer=writer)


async def _send(writer: asyncio.StreamWriter, data: bytes | memoryview) -> None:
    """In pieces: what cannot be sent now is copied."""
    for at in range(0, len(data), _PIECE):
        writer.write(data[at : at + _PIECE])
        await writer.drain()


_PATH = re.compile(r"/endpoints/(?P<name>[^/]+)/(?P<kind>invocations|invocations-response-stream|async-invocations)")
_NAME: Final = re.compile(r"[a-zA-Z0-9](-*[a-zA-Z0-9])*")
_LONGEST_NAME: Final = 63
_ASYNCHRONOUS: Final = "async-invocations"
_ACCEPT: Final = "x-amzn-sagemaker-accept"
_COMPONENT: Final = "x-amzn-sagemaker-inference-component"
_LISTENS_SECONDS: Final = 15.0
"""A new supervisor of an endpoint whose supervisor was killed may need some time to listen."""
_PAUSE: Final = 0.05
_MORE_SECONDS: Final = 10.0
"""Beyond the limit of the endpoint, which answers for its container when that is over."""
_DRAINED: Final = 256 << 20
"""Bytes of a refused request that are read and dropped, so that its client reads the answer."""
_FIRST: Final = 64 << 10
"""Bytes of an answer that are read before its status is sent: until then, a broken answer becomes an error."""
_OK: Final = 200
_NOT_PASSED: Final = frozenset({"content-length", "transfer-encoding", "connection"})


class _RefusedError(Exception):
    """The answer is an error of the service."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(code)
        self.status, self.code, self.message = status, code, message


class _TooLargeError(_RefusedError):
    """The body states that it is too large, and none of it was read."""

    def __init__(self, stated: str, most: int) -> None:
        super().__init__(413, "ValidationError", facts.too_large(stated, most))


class _AtOnce(Response):
    """An answer that does not wait for the body. What still comes of it is dropped."""

    def __init__(self, answer: Response) -> None:
        super().__init__(answer.body, status_code=answer.status_code, headers=answer.headers)
        self.headers["connection"] = "close"

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": self.body, "more_body": True})
        if not any(name == b"expect" for name, _ in scope["headers"]):  # it sends all, and then reads the answer
            with suppress(TimeoutError):
                async with asyncio.timeout(BODY_SECONDS):
                    await _drop_body(receive)
        await send({"type": "http.response.body", "body": b""})


async def _drop_body(receive: Any) -> None:
    size, more = 0, True
    while more and size <= _DRAINED:
        message = await receive()
        size += len(message.get("body", b""))
        more = message.get("more_body", False)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Address:
    """Where an endpoint is invoked now."""

    path: str
    """The socket of its supervisor."""
    job: str
    seconds: float
    """For the container's answer."""
    stream: float
    """For the whole of a streamed one."""
    most: int
    """Bytes of a request."""


def is_invocation(request: Request) -> bool:
    """True for a call of the runtime, by its path."""
    return request.method == "POST" and _PATH.fullmatch(request.url.path) is not None


@dataclass(kw_only=True, slots=True)
class Invocations:
    """Those of one server, in its loop."""

    serving: Serving
    connections: Connections = field(default_factory=Connections)
    _known: dict[str, tuple[int, _Address]] = field(default_factory=dict)
    """Addresses, with the number of the store's changes when they were looked up."""

    async def answer(
        self, request: Request, early: Problem | None, body_problem: Callable[[bytes | memoryview], Problem | None]
    ) -> Response:
        """The answer of the endpoint.

        `early`: what is wrong with the signature, whatever the body is; `body_problem` finds the rest.
        """
        try:
            if early is not None:
                raise _forbidden(early)
            return await self._response(request, body_problem)
        except _TooLargeError as error:
            return _AtOnce(_refusal(error))
        except _RefusedError as error:
            return _refusal(error)

    async def _response(
        self, request: Request, body_problem: Callable[[bytes | memoryview], Problem | None]
    ) -> Response:
        name, kind = _called(request)
        address = await self._address(name)
        most = facts.MOST_BODY if address is None else address.most
        async with AsyncExitStack() as stack:  # until the answer begins
            body = await _body(request, most, stack)
            problem = body_problem(body)
            if problem is not None:
                raise _forbidden(problem)
            if address is None:
                raise self._unknown(name)
            began = time.monotonic()
            head = _message_head(name, request, len(body), streamed=kind == facts.STREAMED)
            answer = await self._asked(name, address, (head, body))
            del body
        headers = {key: value for key, value in answer.headers.items() if key not in _NOT_PASSED}
        if answer.status != _OK:
            return Response(await _whole(answer), status_code=answer.status, headers=headers)
        if kind == facts.STREAMED:
            if "content-type" in headers:
                headers["x-amzn-sagemaker-content-type"] = headers.pop("content-type")
            events = _events(answer, until=began + address.stream)
            return StreamingResponse(events, headers=headers, media_type=CONTENT_TYPE)
        pieces = answer.pieces()
        if answer.length is None:
            return StreamingResponse(_passed_on([], pieces), headers=headers)
        try:
            first = await _first(pieces)
        except BrokenOffError:
            raise _unavailable(name) from None
        if sum(map(len, first)) == answer.length:
            return Response(b"".join(first), headers=headers)
        headers["content-length"] = str(answer.length)
        return StreamingResponse(_passed_on(first, pieces), headers=headers)

    async def _asked(self, name: str, address: _Address, message: Sequence[bytes | memoryview]) -> EndpointAnswer:
        """The answer; it waits for a new supervisor if the one that listened was killed."""
        end = time.monotonic() + _LISTENS_SECONDS
        while True:
            try:
                return await self.connections.ask(address.path, message, seconds=address.seconds + _MORE_SECONDS)
            except (ConnectionRefusedError, FileNotFoundError):
                if time.monotonic() >= end:
                    raise _unavailable(name) from None
                await in_thread(partial(ensure_supervised, self.serving.store, address.job))
                await asyncio.sleep(_PAUSE)
                self._known.pop(name, None)
                found = await self._address(name)
                if found is None:
                    raise self._unknown(name) from None
                address = found
            except (OSError, TimeoutError):
                raise _unavailable(name) from None

    def _unknown(self, name: str) -> _RefusedError:
        return _RefusedError(400, "ValidationError", facts.unknown_endpoint(name, account=self.serving.account))

    async def _address(self, name: str) -> _Address | None:
        """None if there is no endpoint of this name in service."""
        if len(name) > _LONGEST_NAME or _NAME.fullmatch(name) is None:
            return None
        number = self.serving.status_watch.number()
        known = self._known.get(name)
        if known is not None and known[0] == number:
            return known[1]
        found = await in_thread(lambda: self._looked_up(name))
        if found is None:
            self._known.pop(name, None)
            return None
        self._known[name] = (number, found)
        return found

    def _looked_up(self, name: str) -> _Address | None:
        store = self.serving.store
        endpoint = find_endpoint(store, name)
        if endpoint is None or endpoint.status not in {IN_SERVICE, UPDATING}:
            return None
        try:
            plan = store.document(endpoint.job.name, PLAN) or {}
        except JobUnknownError:
            return None
        return _Address(
            path=socket_path(store.directory(endpoint.job.name)),
            job=endpoint.job.name,
            seconds=invocation_seconds(plan),
            stream=stream_seconds(plan),
            most=int((plan.get("Serving") or {}).get("MaxBodyBytes", facts.MOST_BODY)),
        )


def _called(request: Request) -> tuple[str, str]:
    """The name of the endpoint, and the kind of invocation; those that are not emulated are refused by name."""
    found = _PATH.fullmatch(request.url.path)
    if found is None:
        raise AssertionError(request.url.path)  # `is_invocation` has been asked
    if found["kind"] == _ASYNCHRONOUS:
        message = "smlocal does not emulate InvokeEndpointAsync: asynchronous inference is not run here."
        raise _RefusedError(404, "UnknownOperationException", message)
    if _COMPONENT in request.headers:
        raise _RefusedError(400, "ValidationError", "smlocal does not run inference components.")
    return found["name"], found["kind"]


def _message_head(name: str, request: Request, size: int, *, streamed: bool) -> bytes:
    """The head of the request to the supervisor of the endpoint."""
    headers = {key: value for key, value in request.headers.items() if key in facts.PASSED}
    if streamed:
        headers.pop("accept", None)
        if _ACCEPT in request.headers:
            headers["accept"] = request.headers[_ACCEPT]
    lines = "".join(f"{key}: {value}\r\n" for key, value in headers.items())
    kind = facts.STREAMED if streamed else facts.INVOKED
    head = f"POST /endpoints/{name}/{kind} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {size}\r\n{lines}\r\n"
    return head.encode("latin-1")


async def _body(request: Request, most: int, stack: AsyncExitStack) -> bytes | memoryview:
    """The whole body. It has its room until the end of `stack`."""
    stated = request.headers.get("content-length", "0")
    body, size = BodyContent(), 0
    if states_more(stated, most):
        raise _TooLargeError(stated, most)
    try:
        async with asyncio.timeout(BODY_SECONDS):
            room = await stack.enter_async_context(room_for_body(request, most))
            if room is not None:
                body.reserve(room)
            async for piece in request.stream():
                size += len(piece)
                if size > _DRAINED:
                    break
                if size <= most:
                    body.add(piece)
    except TimeoutError:
        raise _RefusedError(408, "ValidationError", "The body did not come in time.") from None
    if size > most:
        raise _RefusedError(413, "ValidationError", facts.too_large(str(size), most))
    return body.whole()


async def _whole(answer: EndpointAnswer) -> bytes:
    try:
        return await answer.read()
    except BrokenOffError:
        return b"{}"


async def _first(pieces: AsyncIterator[bytes]) -> list[bytes]:
    """The beginning of an answer, or all of it."""
    found: list[bytes] = []
    size = 0
    async for piece in pieces:
        found.append(piece)
        size += len(piece)
        if size > _FIRST:
            break
    return found


async def _passed_on(first: list[bytes], pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """If it breaks off, so does the answer to the client: its status has been sent."""
    try:
        while first:
            yield first.pop(0)
        async for piece in pieces:
            yield piece
    except BrokenOffError:
        raise ClientDisconnect from None


async def _events(answer: EndpointAnswer, *, until: float) -> AsyncIterator[bytes]:
    try:
        async for piece in answer.pieces():
            yield payload_part(piece)
    except BrokenOffError:
        if time.monotonic() >= until:
            yield model_stream_error("ModelInvocationTimeExceeded", facts.timed_out())
        else:
            yield model_stream_error("StreamBroken", "The container has closed the connection before its answer ended.")


def _forbidden(problem: Problem) -> _RefusedError:
    return _RefusedError(403, problem.json_code, problem.message)


def _unavailable(name: str) -> _RefusedError:
    return _RefusedError(503, "ServiceUnavailable", f"The endpoint {name} does not answer.")


def _refusal(error: _RefusedError) -> Response:
    return Response(
        json.dumps({"Message": error.message, "message": error.message}).encode(),
        status_code=error.status,
        media_type="application/json",
        headers={"x-amzn-errortype": error.code, "x-amzn-requestid": str(uuid4())},
    )


CONTENT_TYPE: Final = "application/vnd.amazon.eventstream"
_TEXT: Final = 7
"""The type of a header whose value is text."""
_PRELUDE: Final = 12
_CHECKSUM: Final = 4


def payload_part(content: bytes) -> bytes:
    """One piece of the container's answer."""
    headers = {":message-type": "event", ":event-type": "PayloadPart", ":content-type": "application/octet-stream"}
    return _message(headers, content)


def model_stream_error(code: str, message: str) -> bytes:
    """The container's answer has broken off."""
    headers = {
        ":message-type": "exception",
        ":exception-type": "ModelStreamError",
        ":content-type": "application/json",
    }
    return _message(headers, json.dumps({"Message": message, "ErrorCode": code}).encode())


def _message(headers: dict[str, str], payload: bytes) -> bytes:
    head = b"".join(_header(name.encode(), value.encode()) for name, value in headers.items())
    size = _PRELUDE + len(head) + len(payload) + _CHECKSUM
    prelude = struct.pack("!II", size, len(head))
    begun = prelude + struct.pack("!I", crc32(prelude)) + head + payload
    return begun + struct.pack("!I", crc32(begun))


def _header(name: bytes, value: bytes) -> bytes:
    return struct.pack("!B", len(name)) + name + struct.pack("!BH", _TEXT, len(value)) + value
