"""The ASGI application: looks at each request once, and passes it to the front that answers it."""

import traceback
from asyncio import CancelledError
from importlib import import_module
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response

from smlocal.base.web import MOST_HELD, HeldBytes
from smlocal.endpoint import aws_calls
from smlocal.endpoint.aws_calls import handlers
from smlocal.endpoint.browsers import Hosts, guarded, is_part_of_a_page
from smlocal.endpoint.invocations.front import Invocations, is_invocation
from smlocal.endpoint.large_requests import HELD, BodyTooLargeError, BodyTooSlowError, read_body, refused_head
from smlocal.endpoint.objects import s3_front
from smlocal.endpoint.protocol.aws_names import Scope, is_by_path, scope_of
from smlocal.endpoint.protocol.models import service_model
from smlocal.endpoint.serving import Serving
from smlocal.endpoint.signature import Problem, Signatures


class Application:
    """Everything on one port: AWS's protocols, S3, invocations of endpoints, and the page."""

    def __init__(self, serving: Serving, *, hosts: Hosts, signatures: Signatures | None, only_s3: bool = False) -> None:
        """With `signatures`, only requests that they verify are answered; with `only_s3`, only S3."""
        self._only_s3 = only_s3
        self._serving = serving
        self._hosts = hosts
        self._signatures = signatures
        self._held = HeldBytes(MOST_HELD)
        """The bodies of all calls and invocations. Used in the server's loop."""
        self._invocations = Invocations(serving=serving)
        self._page: Any = None
        """A `PageFront`, whose imports come back to this module."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        scope[HELD] = self._held
        request = Request(scope, receive, send)
        try:
            response = guarded(await self._response(request))
            await response(scope, receive, send)
        except ClientDisconnect:
            return
        except Exception:
            self._serving.log(f"{request.method} {scope['path']!r}: {traceback.format_exc()}")
            raise

    def warm_up(self) -> None:
        """Read what calls to SageMaker need, so that the first one does not wait for it: a tenth of a second."""
        service_model("sagemaker")
        handlers("sagemaker")

    def release(self) -> None:
        """Answer the calls that are held: the server is to end."""
        self._serving.status_watch.release()
        if self._page is not None:
            self._page.streams.release()

    async def _response(self, request: Request) -> Response:
        try:
            return refused_head(request) or await self._answer(request)
        except BodyTooLargeError:
            return _closing("the body is too large", 413)
        except BodyTooSlowError:
            return _closing("the body did not come", 408)
        except CancelledError:  # only then
            return _closing("the server ends", 503)

    async def _answer(self, request: Request) -> Response:
        refused = self._hosts.refusal(request)
        if refused is not None:
            return PlainTextResponse(refused, status_code=403)
        signed = scope_of(request)
        if self._only_s3 or s3_front.is_for_s3(request, signed):
            if is_part_of_a_page(request):
                return PlainTextResponse("an object cannot be part of a page", status_code=403)
            return await s3_front.answer(self._serving, request, signed, problem=self._problem(request, signed, None))
        if is_by_path(request, signed) or (request.method == "POST" and "x-amz-target" in request.headers):
            body, problem = await self._verified_body(request, signed)
            return await aws_calls.answer_json(self._serving, request, signed, body, problem=problem)
        if request.method == "POST" and _is_form(request) and request.url.path == "/":
            body, problem = await self._verified_body(request, signed)
            return await aws_calls.answer_query(self._serving, request, signed, body, problem=problem)
        return await (self._invoked(request, signed) if is_invocation(request) else self._no_call(request, signed))

    async def _invoked(self, request: Request, signed: Scope | None) -> Response:
        early = None if self._signatures is None else self._signatures.early_problem(request, signed)
        return await self._invocations.answer(request, early, lambda body: self._problem(request, signed, body))

    async def _no_call(self, request: Request, signed: Scope | None) -> Response:
        for_one_program = self._signatures is not None and self._signatures.others
        if signed is None and not for_one_program and _is_of_the_page(request):
            page: Response = await (await self._page_front()).answer(request)
            return page
        if signed is not None and (await self._verified_body(request, signed))[1] is None:
            return aws_calls.refuse_path(request, signed)
        if self._signatures is not None and not for_one_program:
            return PlainTextResponse("smlocal answers only signed calls here", status_code=403)
        return PlainTextResponse("not found", status_code=404)

    async def _verified_body(self, request: Request, signed: Scope | None) -> tuple[bytes, Problem | None]:
        """The body of a call, and what is wrong with its signature. It is not read for a client without the key."""
        early = None if self._signatures is None else self._signatures.early_problem(request, signed)
        if early is not None:
            return b"", early
        body = await read_body(request)
        return body, self._problem(request, signed, body)

    def _problem(self, request: Request, signed: Scope | None, body: bytes | memoryview | None) -> Problem | None:
        return None if self._signatures is None else self._signatures.problem(request, signed, body)

    async def _page_front(self) -> Any:
        """The page. It is imported when a browser asks for it: its templates take a tenth of a second."""
        front = await run_in_threadpool(import_module, "smlocal.endpoint.page.front")
        if self._page is None:
            self._page = front.PageFront(self._serving, self._signatures)
        return self._page


def _closing(why: str, status: int) -> Response:
    return PlainTextResponse(why, status_code=status, headers={"connection": "close"})


def _is_of_the_page(request: Request) -> bool:
    return request.url.path == "/" or request.url.path.startswith("/-/")


def _is_form(request: Request) -> bool:
    return request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded")
