"""Limits of what one request may be: headers, body, time; and a thread for what a large one takes."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from smlocal.base.web import BODY_SECONDS, MOST_HEAD, MOST_HEADERS, SMALL, HeldBytes

HELD = "smlocal.held"
"""Where the application keeps the `HeldBytes` of all requests in the scope of each."""
_VERSIONS = frozenset({"1.0", "1.1"})
MOST_BODY = 8 << 20
"""Bytes of a call. The largest valid CreateTrainingJob has less than 2 MiB."""


class BodyTooLargeError(Exception):
    """More bytes than any valid call has."""


class BodyTooSlowError(Exception):
    """The client takes too long to send its body."""


def refused_head(request: Request) -> Response | None:
    """The answer to a request with too many headers, with too long ones, or that could be read in two ways."""
    if request.scope["http_version"] not in _VERSIONS:
        return PlainTextResponse("neither HTTP/1.0 nor HTTP/1.1", status_code=400, headers={"connection": "close"})
    if _length(request) > MOST_HEAD:  # a second request on the same connection
        return PlainTextResponse("the head is too long", status_code=431, headers={"connection": "close"})
    if len(request.scope["headers"]) > MOST_HEADERS:
        return PlainTextResponse("too many headers", status_code=431, headers={"connection": "close"})
    if "transfer-encoding" in request.headers:
        # Another program between may believe the other length, or know no chunks, and take the rest for a request.
        if "content-length" in request.headers:
            return PlainTextResponse("two lengths", status_code=400, headers={"connection": "close"})
        if request.scope["http_version"] == "1.0":
            return PlainTextResponse("HTTP/1.0 has no chunks", status_code=400, headers={"connection": "close"})
    return None


def _length(request: Request) -> int:
    """Bytes of the head, without spaces that mean nothing."""
    scope = request.scope
    line = len(scope["raw_path"]) + len(scope["query_string"])
    return line + sum(len(name) + len(value) + len(":\r\n") for name, value in scope["headers"])


def states_more(stated: str, most: int) -> bool:
    """True for a number above `most`, however many digits it has: Python reads no more than 4,300."""
    return stated.isdecimal() and (len(stated.lstrip("0")) > len(str(most)) or int(stated[-len(str(most)) :]) > most)


@asynccontextmanager
async def room_for_body(request: Request, most: int) -> AsyncIterator[int | None]:
    """Have room for the body of a request inside the block. It may have to wait until others have given theirs back.

    The value is how many bytes it may have; None for a small one, which needs no room.
    """
    stated = request.headers.get("content-length", "")
    known = stated.isascii() and stated.isdecimal() and not states_more(stated, most)
    size = int(stated) if known else most
    if size <= SMALL:
        yield None
        return
    granted = asyncio.Event()
    held: HeldBytes = request.scope[HELD]
    share = held.take(size, granted.set)
    try:
        if not share.granted:
            await granted.wait()
        yield size
    finally:
        share.give_back()


async def read_body(request: Request) -> bytes:
    """The whole body of a call."""
    stated = request.headers.get("content-length", "0")
    if states_more(stated, MOST_BODY):
        raise BodyTooLargeError
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS), room_for_body(request, MOST_BODY):
            async for piece in request.stream():
                body += piece
                if len(body) > MOST_BODY:
                    raise BodyTooLargeError
    except TimeoutError as error:
        raise BodyTooSlowError from error
    return bytes(body)


Result = TypeVar("Result")


async def in_thread(function: Callable[[], Result]) -> Result:
    """As `run_in_threadpool`. There an exception and the frames that it has gone through refer to each other.

    So what a client has sent, which may be megabytes, would stay until the garbage collector looks.
    """
    outcome = await run_in_threadpool(_outcome, function)
    try:
        if isinstance(outcome, _Failure):
            raise outcome.error
        return outcome
    finally:
        del outcome


class _Failure:
    def __init__(self, error: Exception) -> None:
        self.error = error


def _outcome(function: Callable[[], Result]) -> Result | _Failure:
    try:
        return function()
    except Exception as error:  # noqa: BLE001 - it is raised again
        return _Failure(error)
