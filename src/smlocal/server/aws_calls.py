"""Answers calls of AWS's JSON and query protocols."""

import traceback
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse

from smlocal.errors import SmlocalError
from smlocal.server.call import Call, ServiceError
from smlocal.server.held_calls import goes_on, hold, later_answer
from smlocal.server.in_thread import in_thread
from smlocal.server.operations import VALIDATED_LATER, find, not_emulated
from smlocal.server.protocol import json_documents, query_answers, query_form
from smlocal.server.protocol.models import EMULATED, operation_model
from smlocal.server.protocol.routing import Scope, by_form, by_target
from smlocal.server.protocol.validation import check_parameters
from smlocal.server.serving import Serving
from smlocal.server.signature import Problem

_LARGE = 64 << 10
"""Bytes of a body that is read in a thread: reading it would hold up all others."""
_JSON_11, _JSON_10 = "application/x-amz-json-1.1", "application/x-amz-json-1.0"


async def answer_json(
    serving: Serving, request: Request, scope: Scope | None, body: bytes, *, problem: Problem | None
) -> Response:
    """A call with the header X-Amz-Target. `problem`: of its signature."""
    kind = request.headers.get("content-type", "").partition(";")[0]
    kind = kind if kind in {_JSON_11, _JSON_10} else _JSON_11
    if problem is not None:
        wrong = ServiceError(problem.json_code, problem.message)
        return _refused(wrong, json_documents.encode_error(wrong), kind)
    try:
        service, operation = by_target(request.headers["x-amz-target"])
        if service is None:
            raise not_emulated(None if scope is None else scope.service, operation)
        asked = (service, operation)
        answer = await _answer(
            serving, request, asked, scope, lambda _: json_documents.decode(body), large=len(body) > _LARGE
        )
    except ServiceError as error:
        return _refused(error, json_documents.encode_error(error), kind)
    if goes_on(serving, operation, answer, request):
        return StreamingResponse(later_answer(serving, answer), media_type=kind, headers=_request_id())
    return Response(json_documents.encode(answer), media_type=kind, headers=_request_id())


async def answer_query(
    serving: Serving, request: Request, scope: Scope | None, body: bytes, *, problem: Problem | None
) -> Response:
    """A call as a form: `Action=GetCallerIdentity&Version=2011-06-15`."""
    if problem is not None:
        wrong = ServiceError(problem.query_code, problem.message, status=403)
        return _refused(wrong, query_answers.encode_error(wrong), "text/xml")
    try:
        large = len(body) > _LARGE
        form = await in_thread(lambda: query_form.read_form(body)) if large else query_form.read_form(body)
        service, operation = by_form(form)
        model = operation_model(service, operation) if service is not None else None
        if service is None or model is None:
            raise not_emulated(service, operation)
        asked = (service, operation)
        answer = await _answer(
            serving, request, asked, scope, lambda shape: query_form.parameters(shape, form), large=large
        )
    except ServiceError as error:
        return _refused(error, query_answers.encode_error(error), "text/xml")
    return Response(query_answers.encode(model, answer), media_type="text/xml")


async def _answer(
    serving: Serving,
    request: Request,
    asked: tuple[str, str],
    scope: Scope | None,
    read: Callable[[Any], Any],
    *,
    large: bool,
) -> dict[str, Any]:
    service, operation = asked
    handler = find(service, operation)
    model = operation_model(service, operation)
    if model is None or service not in EMULATED:
        raise not_emulated(service, operation)
    shape = model.input_shape

    def parameters() -> dict[str, Any]:
        return _parameters(service, operation, shape, read(shape))

    try:
        call = Call(
            service=service,
            operation=operation,
            parameters=await in_thread(parameters) if large else parameters(),
            region=serving.region if scope is None else scope.region,
            access_key=None if scope is None else scope.access_key,
        )
        await hold(serving, call, request)
        return await in_thread(lambda: handler(serving, call))
    except SmlocalError as error:
        # Handlers word what a client can cause. This is a full disk, a lost engine, a damaged database.
        serving.log(f"{operation}: {error.sentence} {' '.join(error.details)}")
        raise ServiceError("InternalFailure", error.sentence, status=500) from error
    except (ServiceError, ClientDisconnect):
        raise
    except Exception as error:
        serving.log(f"{operation}: {traceback.format_exc()}")
        raise ServiceError("InternalFailure", "The server has met an unexpected error.", status=500) from error


def _parameters(service: str, operation: str, shape: Any, given: Any) -> dict[str, Any]:
    if (service, operation) in VALIDATED_LATER and isinstance(given, dict):
        return given
    return check_parameters(shape, given)


def _refused(error: ServiceError, body: bytes, kind: str) -> Response:
    return Response(
        body, status_code=error.status, media_type=kind, headers={"x-amzn-errortype": error.code, **_request_id()}
    )


def _request_id() -> dict[str, str]:
    """Programs log it: `answer["ResponseMetadata"]["RequestId"]`."""
    return {"x-amzn-requestid": str(uuid4())}
