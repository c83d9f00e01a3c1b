"""Asks an ASGI application in this process, without a port."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

_SECONDS = 200.0
"""Within which everything is answered, also on a busy machine."""

Headers = Iterable[tuple[str, bytes]]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The answer, as botocore's parsers take it."""

    status: int
    headers: dict[str, str]
    body: bytes

    def for_parser(self) -> dict[str, Any]:
        return {"status_code": self.status, "headers": self.headers, "body": self.body}


async def ask(
    application: Any, *, headers: Headers, body: bytes, method: str = "POST", path: str = "/", query: str = ""
) -> Answer:
    """One request; an exception of the application is the caller's."""
    pending = [{"type": "http.request", "body": body, "more_body": False}]
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        if pending:
            return pending.pop()
        await asyncio.sleep(3600)  # the client stays
        raise AssertionError

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.encode(), value) for name, value in headers],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 4597),
    }
    async with asyncio.timeout(_SECONDS):
        await application(scope, receive, send)
    start = sent[0]
    return Answer(
        status=start["status"],
        headers={name.decode("latin-1").lower(): value.decode("latin-1") for name, value in start["headers"]},
        body=b"".join(message.get("body", b"") for message in sent[1:]),
    )
