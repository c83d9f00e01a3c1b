"""The ASGI application: looks at each request once, and passes it to the front that answers it."""

from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response

from smlocal.server import aws_calls
from smlocal.server.hosts import Hosts
from smlocal.server.limits import BodyTooLargeError, BodyTooSlowError, read_body
from smlocal.server.objects import s3_front
from smlocal.server.protocol.routing import scope_of
from smlocal.server.serving import Serving
from smlocal.server.signature import Signatures


class Application:
    """Everything on one port: AWS's protocols, S3, and the page."""

    def __init__(self, serving: Serving, *, hosts: Hosts, signatures: Signatures | None) -> None:
        """With `signatures`, only requests that they verify are answered."""
        self._serving = serving
        self._hosts = hosts
        self._signatures = signatures

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        request = Request(scope, receive, send)
        try:
            response = await self._answer(request)
        except BodyTooLargeError:
            response = PlainTextResponse("the body is too large", status_code=413, headers={"connection": "close"})
        except BodyTooSlowError:
            response = PlainTextResponse("the body did not come", status_code=408, headers={"connection": "close"})
        except ClientDisconnect:
            return
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        refused = self._hosts.refusal(request)
        if refused is not None:
            return PlainTextResponse(refused, status_code=403)
        signed = scope_of(request)
        if s3_front.is_for_s3(request, signed):
            return await s3_front.answer(self._serving, request, signed)
        if request.method == "POST" and "x-amz-target" in request.headers:
            return await aws_calls.answer_json(self._serving, request, signed, await read_body(request))
        if request.method == "POST" and _is_form(request) and request.url.path == "/":
            return await aws_calls.answer_query(self._serving, request, signed, await read_body(request))
        return PlainTextResponse("not found", status_code=404)


def _is_form(request: Request) -> bool:
    return request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded")
