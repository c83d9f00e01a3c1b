"""Bodies of S3 as they come: to a file, with their checksums compared, and never whole in memory."""

import asyncio
import base64
import hashlib
import re
from collections.abc import AsyncIterator
from typing import Any
from xml.etree.ElementTree import Element

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from smlocal.data.sources.s3.interface import Crc
from smlocal.endpoint.large_requests import BodyTooSlowError, in_thread, read_body, states_more
from smlocal.endpoint.objects.object_files import IncomingFile
from smlocal.endpoint.objects.s3_documents import S3CallError, not_emulated, parsed

MOST_OBJECT = 5 << 30
"""Bytes of one PUT."""
_WRITTEN_AT_ONCE = 1 << 20
_DECODED_AT_ONCE = 64 << 10
"""Bytes of the coding aws-chunked, between which others have their turn: they may be a chunk for each byte."""
_WINDOW_SECONDS = 30.0
_LEAST_IN_WINDOW = 4 << 10
_DIGITS = 64
"""The digits of a SHA-256."""
CHECKSUM = "x-amz-checksum-"
_KINDS = ("crc32", "crc32c", "crc64nvme", "sha1", "sha256")
_CHECKSUM = re.compile(r"[A-Za-z0-9+/]{4,100}={0,2}")


class Received:
    """The received bytes."""

    def __init__(self, *, md5: str, size: int, checksums: dict[str, str]) -> None:
        """All of it has been compared with what the client says."""
        self.md5 = md5
        self.size = size
        self.checksums = checksums


async def receive(request: Request, new: IncomingFile) -> Received:
    """Write the body to a file; `S3CallError` if it is not what the headers say."""
    sums = _Sums(request)
    chunked = Chunked() if is_chunked(request) else None
    async for data in _gathered(request, chunked):
        await run_in_threadpool(_take, new, sums, data)
    if chunked is not None:
        chunked.check_complete()
        _check_length(request, sums.size)
        sums.trailers(chunked.trailers)
    return sums.compared()


def _take(new: IncomingFile, sums: "_Sums", data: bytes) -> None:
    sums.update(data)
    new.write(data)


# The content coding `aws-chunked`: chunks with their lengths, then trailers.

_MOST_LINE = 4 << 10
_MOST_TRAILERS = 32
_LENGTH = re.compile(rb"[0-9A-Fa-f]{1,16}")


class Chunked:
    """Takes the coding apart piece by piece. Signatures of chunks are not looked at."""

    def __init__(self) -> None:
        """At the first byte."""
        self.trailers: dict[str, str] = {}
        self._held = b""
        self._at = 0
        self._left = 0
        self._state = "length"

    def decode(self, data: bytes) -> bytes:
        """The bytes of the content in the next piece."""
        self._held = self._held[self._at :] + data
        self._at = 0
        found = []
        while True:
            if self._state == "data":
                piece = self._held[self._at : self._at + self._left]
                self._at += len(piece)
                self._left -= len(piece)
                found.append(piece)
                if self._left:
                    break
                self._state = "end of data"
            line = self._line()
            if line is None:
                break
            self._take(line)
        return b"".join(found)

    def check_complete(self) -> None:
        """`S3CallError` if something is missing, or too much."""
        if self._state not in {"trailers", "end"} or self._at < len(self._held):
            raise S3CallError("IncompleteBody", "The request body terminated unexpectedly")

    def _line(self) -> bytes | None:
        end = self._held.find(b"\r\n", self._at)
        if (len(self._held) if end < 0 else end) - self._at > _MOST_LINE:
            raise _malformed()
        if end < 0:
            return None
        line = self._held[self._at : end]
        self._at = end + len(b"\r\n")
        return line

    def _take(self, line: bytes) -> None:
        if self._state == "length":
            digits = line.partition(b";")[0]
            if _LENGTH.fullmatch(digits) is None:
                raise _malformed()
            self._left = int(digits, 16)
            self._state = "data" if self._left else "trailers"
        elif self._state == "end of data":
            if line:
                raise _malformed()
            self._state = "length"
        elif self._state == "trailers" and line:
            name, _, value = line.decode("latin-1").partition(":")
            self.trailers[name.strip().lower()] = value.strip()
            if len(self.trailers) > _MOST_TRAILERS:
                raise _malformed()
        else:
            self._state = "end"


def _malformed() -> S3CallError:
    return S3CallError("InvalidChunkSizeError", "The body is not what the content coding aws-chunked asks for.")


async def _gathered(request: Request, chunked: Chunked | None) -> AsyncIterator[bytes]:
    """The bytes of the object, in pieces that are worth a thread's turn."""
    held = bytearray()
    total = 0
    async for data in in_time(request) if chunked is None else _decoded(request, chunked):
        held += data
        total += len(data)
        if total > MOST_OBJECT:
            raise too_large()
        if len(held) >= _WRITTEN_AT_ONCE:
            yield bytes(held)
            held.clear()
    yield bytes(held)


async def _decoded(request: Request, chunked: Chunked) -> AsyncIterator[bytes]:
    async for raw in in_time(request):
        for at in range(0, len(raw), _DECODED_AT_ONCE):
            if at:
                await asyncio.sleep(0)
            yield chunked.decode(raw[at : at + _DECODED_AT_ONCE])


async def in_time(request: Request) -> AsyncIterator[bytes]:
    """The body as it comes; `BodyTooSlowError` if it is less than 4 KiB in half a minute."""
    loop = asyncio.get_running_loop()
    stream = request.stream()
    until, came = loop.time() + _WINDOW_SECONDS, 0
    while True:
        try:
            async with asyncio.timeout_at(until):
                piece = await anext(stream, None)
        except TimeoutError as error:
            raise BodyTooSlowError from error
        if piece is None:
            return
        came += len(piece)
        if came >= _LEAST_IN_WINDOW:
            until, came = loop.time() + _WINDOW_SECONDS, 0
        if piece:
            yield piece


async def read_xml(request: Request) -> Element:
    """The root of the document that is the body of a call. `S3CallError` if it is missing, or not the signed one."""
    body = await read_document(request)
    return await in_thread(lambda: parsed(body))


async def read_document(request: Request) -> bytes:
    """The whole body of a call whose body is XML, or empty; `S3CallError` if it is not the signed one."""
    body = await read_body(request)
    content = request.headers.get("x-amz-content-sha256", "")
    if len(content) == _DIGITS and hashlib.sha256(body).hexdigest() != content:
        raise _wrong_content()
    return body


def check_stated_length(request: Request) -> None:
    """`S3CallError` if the client does not say how much will come, or too much."""
    length = request.headers.get("content-length")
    if length is None and "x-amz-decoded-content-length" not in request.headers:
        raise S3CallError("MissingContentLength", "You must provide the Content-Length HTTP header.")
    stated = request.headers.get("x-amz-decoded-content-length", length) or ""
    if states_more(stated, MOST_OBJECT):
        raise too_large()


def too_large() -> S3CallError:
    """More than one PUT may have."""
    return S3CallError(
        "EntityTooLarge", "Your proposed upload exceeds the maximum allowed size", MaxSizeAllowed=str(MOST_OBJECT)
    )


def is_chunked(request: Request) -> bool:
    """True if the body comes in chunks of the coding aws-chunked."""
    content = request.headers.get("x-amz-content-sha256", "")
    return "aws-chunked" in request.headers.get("content-encoding", "") or content.startswith("STREAMING-")


def _check_length(request: Request, size: int) -> None:
    stated = request.headers.get("x-amz-decoded-content-length")
    if stated is not None and stated != str(size):
        raise S3CallError(
            "IncompleteBody",
            "You did not provide the number of bytes specified by the Content-Length HTTP header",
        )


class _Sums:
    """Checksums of a body: those that the client has stated are compared, and all are kept."""

    def __init__(self, request: Request) -> None:
        self.size = 0
        self._md5 = hashlib.md5(usedforsecurity=False)
        self._stated_md5 = _decoded_md5(request.headers.get("content-md5"))
        self._stated: dict[str, str] = {
            name: value for name, value in request.headers.items() if name.removeprefix(CHECKSUM) in _KINDS
        }
        announced = request.headers.get("x-amz-trailer", "").lower().split(",")
        names = {*self._stated, *(name.strip() for name in announced)}
        algorithm = request.headers.get("x-amz-sdk-checksum-algorithm")
        if algorithm is not None:
            names.add(f"{CHECKSUM}{algorithm.lower()}")
        kinds = {name: name.removeprefix(CHECKSUM) for name in names if name.startswith(CHECKSUM)}
        unknown = sorted(set(kinds.values()) - set(_KINDS))
        if unknown:
            raise not_emulated(f"the checksum {', '.join(unknown)}")
        self._sums = {name: found for name, kind in kinds.items() if (found := _new_sum(kind)) is not None}
        content = request.headers.get("x-amz-content-sha256", "")
        self._content = content if len(content) == _DIGITS else None
        self._sha256 = None if self._content is None else hashlib.sha256()

    def update(self, data: bytes) -> None:
        self.size += len(data)
        self._md5.update(data)
        if self._sha256 is not None:
            self._sha256.update(data)
        for each in self._sums.values():
            each.update(data)

    def trailers(self, found: dict[str, str]) -> None:
        self._stated.update((name, value) for name, value in found.items() if name.removeprefix(CHECKSUM) in _KINDS)

    def compared(self) -> Received:
        if self._sha256 is not None and self._sha256.hexdigest() != self._content:
            raise _wrong_content()
        if self._stated_md5 not in {None, self._md5.digest()}:
            raise S3CallError("BadDigest", "The Content-MD5 you specified did not match what we received.")
        computed = {name: base64.b64encode(each.digest()).decode() for name, each in self._sums.items()}
        for name, value in self._stated.items():
            if _CHECKSUM.fullmatch(value) is None:  # it becomes a header of answers
                raise S3CallError("InvalidRequest", f"Value for {name} header is invalid.")
            if computed.get(name, value) != value:
                kind = name.removeprefix(CHECKSUM).upper()
                raise S3CallError("BadDigest", f"The {kind} you specified did not match the calculated checksum.")
        return Received(md5=self._md5.hexdigest(), size=self.size, checksums={**computed, **self._stated})


def _wrong_content() -> S3CallError:
    return S3CallError(
        "XAmzContentSHA256Mismatch", "The provided 'x-amz-content-sha256' header does not match what was computed."
    )


def _decoded_md5(stated: str | None) -> bytes | None:
    if stated is None:
        return None
    try:
        digest = base64.b64decode(stated, validate=True)
    except ValueError:
        digest = b""
    if len(digest) != hashlib.md5(usedforsecurity=False).digest_size:
        raise S3CallError("InvalidDigest", "The Content-MD5 you specified is not valid.")
    return digest


def _new_sum(kind: str) -> Any:
    """A running sum; None for a CRC that needs a package which is not installed."""
    if not kind.startswith("crc"):
        return hashlib.new(kind, usedforsecurity=False)

    try:
        return Crc(kind)
    except ValueError:
        return None
