"""Answers with an object: its headers, and its bytes from the disk as the client takes them."""

import asyncio
import os
import re
from collections.abc import Mapping
from email.utils import formatdate
from http import HTTPStatus
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from smlocal.server.objects.attributes import Attributes
from smlocal.server.objects.s3_error import S3Error

_PIECE = 1 << 20
_SEND_SECONDS = 60.0
_RANGE = re.compile(r"bytes=([0-9]{0,20})-([0-9]{0,20})")


def object_headers(attributes: Attributes, *, modified: float, with_checksums: bool) -> dict[str, str]:
    """What GetObject and HeadObject say of an object."""
    return {
        **attributes.headers,
        **(attributes.checksums if with_checksums else {}),
        "etag": f'"{attributes.etag}"',
        "last-modified": formatdate(int(modified), usegmt=True),
        "accept-ranges": "bytes",
    }


def stated_range(stated: str | None, size: int) -> tuple[int, int] | None:
    """First byte and end of the header Range; None for the whole object. `S3Error` if the object ends before it."""
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
        raise S3Error(
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
