"""Objects in answers: their headers, conditions on them, and headers that smlocal does not emulate."""

import asyncio
import os
import re
from collections.abc import Callable, Mapping
from email.utils import formatdate, parsedate_to_datetime
from http import HTTPStatus
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from smlocal.endpoint.objects.object_files import DEFAULT_TYPE, Attributes
from smlocal.endpoint.objects.s3_documents import S3CallError, not_emulated

_KEPT = ("cache-control", "content-disposition", "content-encoding", "content-language", "content-type", "expires")
_CHOSEN = {f"response-{name}": name for name in _KEPT}
"""Members of a query that set a header of the answer: S3 has these six, and a client must not set any other."""
_VALUE = re.compile(r"(?:[!-~\x80-\xff](?:[\t -~\x80-\xff]*[!-~\x80-\xff])?)?")
_ENCRYPTION = (
    "x-amz-server-side-encryption",
    "x-amz-server-side-encryption-aws-kms-key-id",
    "x-amz-server-side-encryption-bucket-key-enabled",
)
"""Recorded and returned, and nothing is encrypted: SDK v2 asks for it with all code that it uploads."""
_METADATA = "x-amz-meta-"
_MOST_METADATA = 2048
_NOT_EMULATED = (
    "x-amz-acl",
    "x-amz-grant-",
    "x-amz-object-lock-",
    "x-amz-server-side-encryption-customer-",
    "x-amz-copy-source-server-side-encryption",
    "x-amz-storage-class",
    "x-amz-tagging",
    "x-amz-website-redirect-location",
    "x-amz-write-offset-bytes",
)
_AS_IT_IS = {
    ("x-amz-acl", "private"),
    ("x-amz-acl", "bucket-owner-full-control"),
    ("x-amz-storage-class", "STANDARD"),
}
"""Defaults of S3 that nobody asks for."""


def chosen_headers(query: Mapping[str, str], *, signed: bool) -> dict[str, str]:
    """The headers of an answer that its request chooses; `S3CallError` for a value that no header can have."""
    chosen = {}
    for member, value in query.items():
        name = _CHOSEN.get(member)
        if name is None:
            continue
        if not signed:
            raise S3CallError(
                "InvalidRequest", "Request specific response headers cannot be used for anonymous GET requests."
            )
        chosen[name] = value.strip(" \t")
        if _VALUE.fullmatch(chosen[name]) is None:
            raise S3CallError(
                "InvalidArgument",
                "Header value cannot be represented using ISO-8859-1.",
                ArgumentName=member,
                ArgumentValue=value,
            )
    return chosen


def headers_to_keep(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that are returned with the object; `S3CallError` for one that is not emulated."""
    for name, value in headers.items():
        if name.startswith(_NOT_EMULATED) and (name, value) not in _AS_IT_IS:
            raise not_emulated(f"the header {name}: {value}")
    metadata = {name: value for name, value in headers.items() if name.startswith(_METADATA)}
    if sum(len(name) - len(_METADATA) + len(value) for name, value in metadata.items()) > _MOST_METADATA:
        raise S3CallError("MetadataTooLarge", "Your metadata headers exceed the maximum allowed metadata size")
    kept = {name: headers[name] for name in (*_KEPT, *_ENCRYPTION) if name in headers}
    codings = [each.strip() for each in kept.pop("content-encoding", "").split(",")]
    coding = ", ".join(each for each in codings if each not in {"", "aws-chunked"})
    return {
        "content-type": DEFAULT_TYPE,
        **kept,
        **({"content-encoding": coding} if coding else {}),
        **metadata,
    }


# Conditional headers: If-Match and the others, for reading, copying and putting.


def reading_status(headers: Mapping[str, str], *, etag: str, modified: float, before: str = "if-") -> HTTPStatus:
    """OK, or why an object is not to be read: NOT_MODIFIED or PRECONDITION_FAILED. `before`: x-amz-copy-source-if-."""
    match, none_match = headers.get(f"{before}match"), headers.get(f"{before}none-match")
    since = _seconds(headers.get(f"{before}modified-since"))
    until = _seconds(headers.get(f"{before}unmodified-since"))
    if match is not None:
        if not _names(match, etag):
            return HTTPStatus.PRECONDITION_FAILED
    elif until is not None and int(modified) > until:
        return HTTPStatus.PRECONDITION_FAILED
    if none_match is not None:
        if _names(none_match, etag):
            return HTTPStatus.NOT_MODIFIED
    elif since is not None and int(modified) <= since:
        return HTTPStatus.NOT_MODIFIED
    return HTTPStatus.OK


def writing_condition(headers: Mapping[str, str]) -> Callable[[Attributes | None], None] | None:
    """The condition on the object that is replaced or deleted."""
    match, none_match = headers.get("if-match"), headers.get("if-none-match")
    if match is None and none_match is None:
        return None

    def check(present: Attributes | None) -> None:
        if match is not None and present is None:
            raise S3CallError("NoSuchKey", "The specified key does not exist.")
        if match is not None and present is not None and not _names(match, present.etag):
            raise precondition_failed("If-Match")
        if none_match is not None and present is not None and _names(none_match, present.etag):
            raise precondition_failed("If-None-Match")

    return check


def precondition_failed(header: str) -> S3CallError:
    """The object is not what the client expects."""
    return S3CallError(
        "PreconditionFailed", "At least one of the pre-conditions you specified did not hold", Condition=header
    )


def _names(stated: str, etag: str) -> bool:
    given = [each.strip().removeprefix("W/").strip('"') for each in stated.split(",")]
    return etag in given or "*" in given


def _seconds(stated: str | None) -> float | None:
    try:
        return None if stated is None else parsedate_to_datetime(stated).timestamp()
    except ValueError:
        return None


# Answers with an object: its headers, and its bytes from the disk as the client takes them.

_PIECE = 1 << 20
_SEND_SECONDS = 60.0
_RANGE = re.compile(r"bytes=([0-9]{0,20})-([0-9]{0,20})")


def object_headers(attributes: Attributes, *, modified: float, with_checksums: bool) -> dict[str, str]:
    """The headers of an object in answers of GetObject and HeadObject."""
    return {
        **attributes.headers,
        **(attributes.checksums if with_checksums else {}),
        "etag": f'"{attributes.etag}"',
        "last-modified": formatdate(int(modified), usegmt=True),
        "accept-ranges": "bytes",
    }


def stated_range(stated: str | None, size: int) -> tuple[int, int] | None:
    """First byte and end of the header Range; None for the whole object. `S3CallError` if the object ends before it."""
    found = _RANGE.fullmatch(stated or "")
    if found is None or not any(found.groups()):
        return None  # not one range of bytes: S3 answers with all
    first, last = found.groups()
    if not first:
        start, end = max(size - int(last), 0), size
    else:
        start, end = int(first), min(int(last) + 1, size) if last else size
        if last and int(last) < start:
            return None
    if start >= end:
        raise S3CallError(
            "InvalidRange",
            "The requested range is not satisfiable",
            RangeRequested=found[0],
            ActualObjectSize=str(size),
        )
    return start, end


class FileAnswer(Response):
    """A part of an open file. The client has a minute for each mebibyte, or is cut off."""

    def __init__(
        self, descriptor: int, span: tuple[int, int], *, status: HTTPStatus, headers: Mapping[str, str]
    ) -> None:
        """The file is closed at the end."""
        super().__init__(status_code=status, headers={**headers, "content-length": str(span[1] - span[0])})
        self._descriptor = descriptor
        self._span = span

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Send it."""
        del scope, receive
        try:
            at, end = self._span
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            while at < end:
                data = await run_in_threadpool(os.pread, self._descriptor, min(_PIECE, end - at), at)
                if not data:
                    raise OSError("a file has become shorter while it was sent")
                at += len(data)
                async with asyncio.timeout(_SEND_SECONDS):
                    await send({"type": "http.response.body", "body": data, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        except TimeoutError:
            raise ClientDisconnect from None  # a client that does not read is treated as gone
        finally:
            os.close(self._descriptor)
