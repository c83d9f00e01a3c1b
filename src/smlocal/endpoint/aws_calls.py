"""Answers calls of AWS's JSON and query protocols."""

import asyncio
import time
import traceback
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Any, Final
from uuid import uuid4

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse

from smlocal.base.quick_dataclass import dataclass
from smlocal.endpoint.call import AwsCall, ServiceError
from smlocal.endpoint.large_requests import in_thread
from smlocal.endpoint.protocol import json_documents, query
from smlocal.endpoint.protocol.aws_names import Scope, by_form, by_path, by_target
from smlocal.endpoint.protocol.json_documents import encode
from smlocal.endpoint.protocol.models import check_parameters, operation_model, service_model
from smlocal.endpoint.serving import Serving
from smlocal.endpoint.signature import Problem
from smlocal.errors import JobUnknownError, SmlocalError
from smlocal.jobfile.option import LOCAL
from smlocal.jobs.store.jobs import Store
from smlocal.sagemaker.serving.named_endpoint import CREATING, UPDATING, is_settled
from smlocal.terms.statuses import JobStatus

_LARGE = 64 << 10
"""Bytes of a body that is read in a thread: reading it would hold up all others."""
_LONGEST_PATH = 200
"""Characters of a path that an answer shows."""
_JSON_11, _JSON_10, _JSON = "application/x-amz-json-1.1", "application/x-amz-json-1.0", "application/json"


async def answer_json(
    serving: Serving, request: Request, scope: Scope | None, body: bytes, *, problem: Problem | None
) -> Response:
    """A call that names its operation in the header X-Amz-Target or in its path. `problem`: of its signature."""
    kind = request.headers.get("content-type", "").partition(";")[0]
    by_target_header = "x-amz-target" in request.headers
    kind = kind if kind in {_JSON_11, _JSON_10} else _JSON_11 if by_target_header else _JSON
    if problem is not None:
        wrong = ServiceError(problem.json_code, problem.message)
        return _refused(wrong, json_documents.encode_error(wrong), kind)
    try:
        if by_target_header:
            service, operation = by_target(request.headers["x-amz-target"])
        else:
            service, operation = by_path(request.url.path, service_model("batch").operation_names)
        if service is None:
            raise not_emulated(None if scope is None else scope.service, operation)
        asked = (service, operation)
        answer = await _answer(
            serving, request, asked, scope, lambda _: json_documents.decode(body), large=len(body) > _LARGE
        )
    except ServiceError as error:
        return _refused(error, json_documents.encode_error(error), kind)
    _say_unending(serving, operation, answer, request)
    if goes_on(serving, operation, answer, request):
        return StreamingResponse(later_answer(serving, operation, answer), media_type=kind, headers=_request_id())
    return Response(json_documents.encode(answer), media_type=kind, headers=_request_id())


async def answer_query(
    serving: Serving, request: Request, scope: Scope | None, body: bytes, *, problem: Problem | None
) -> Response:
    """A call as a form: `Action=GetCallerIdentity&Version=2011-06-15`."""
    if problem is not None:
        wrong = ServiceError(problem.query_code, problem.message, status=403)
        return _refused(wrong, query.encode_error(wrong), "text/xml")
    try:
        large = len(body) > _LARGE
        form = await in_thread(lambda: query.read_form(body)) if large else query.read_form(body)
        service, operation = by_form(form)
        model = operation_model(service, operation) if service is not None else None
        if service is None or model is None:
            raise not_emulated(service, operation)
        asked = (service, operation)
        answer = await _answer(serving, request, asked, scope, lambda shape: query.parameters(shape, form), large=large)
    except ServiceError as error:
        return _refused(error, query.encode_error(error), "text/xml")
    return Response(query.encode(model, answer), media_type="text/xml")


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
        return checked(service, operation, shape, read(shape))

    try:
        call = AwsCall(
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
    except ServiceError as error:
        if error.code == "ValidationException" and service in _CLIENT_ERRORS:
            raise ServiceError(_CLIENT_ERRORS[service], error.message) from None
        raise
    except ClientDisconnect:
        raise
    except Exception as error:
        serving.log(f"{operation}: {traceback.format_exc()}")
        raise ServiceError("InternalFailure", "The server has met an unexpected error.", status=500) from error


_CLIENT_ERRORS: Final = {"batch": "ClientException"}
"""The one code of services that have no other for a request that is not valid."""


def checked(service: str, operation: str, shape: Any, given: Any) -> dict[str, Any]:
    """The valid parameters of a call. The `Local` block, which is in no model, is validated where it is used."""
    if (service, operation) in VALIDATED_LATER and isinstance(given, dict):
        return given
    parameters = check_parameters(shape, given)
    local = given.get(LOCAL) if (service, operation) in TAKES_LOCAL and isinstance(given, dict) else None
    return parameters if local is None else {**parameters, LOCAL: local}


def refuse_path(request: Request, scope: Scope) -> Response:
    """The answer to a signed call of a service that names its operations in paths, and is not emulated."""
    wrong = not_emulated(scope.service, f"{request.method} {request.url.path[:_LONGEST_PATH]}")
    return _refused(wrong, json_documents.encode_error(wrong), _JSON)


def _refused(error: ServiceError, body: bytes, kind: str) -> Response:
    return Response(
        body, status_code=error.status, media_type=kind, headers={"x-amzn-errortype": error.code, **_request_id()}
    )


def _request_id() -> dict[str, str]:
    """Programs log it: `answer["ResponseMetadata"]["RequestId"]`."""
    return {"x-amzn-requestid": str(uuid4())}


# The Describe of a waiter is held until the job has ended, so that no client waits for its own clock.
# botocore stops reading when nothing has come for 60 seconds. After 50 the answer begins: with white space, as JSON
# may.

_SILENT = 50.0
_BETWEEN = 15.0
_LONGEST = 600.0
"""Seconds. A waiter that gives up after this many questions does so later than it means to."""
_SHORT_CLOCK = 60.0
"""Seconds. A waiter that asks again this soon was told to, and needs no help: it gives up when it means to."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Awaited:
    """A Describe that the waiters of botocore call again and again."""

    member: str
    """Of the call and of its answer: the name."""
    waits: Callable[[Mapping[str, Any]], bool]
    """True if a waiter would ask again after this answer."""
    ended: Callable[[Store, str, set[str]], bool]
    """True if there is nothing to wait for; it gets the name, and those of the unfinished jobs."""
    unending: Callable[[Mapping[str, Any]], bool] = lambda _: False
    """True for an answer after which the waiter goes on asking, although nothing follows."""


def _execution_ended(store: Store, arn: str, unfinished: set[str]) -> bool:
    try:
        return store.name_of(arn) not in unfinished
    except JobUnknownError:
        return True


_AWAITED: Final[Mapping[str, Awaited]] = {
    "DescribeTrainingJob": Awaited(
        member="TrainingJobName",
        waits=lambda answer: not JobStatus(answer["TrainingJobStatus"]).terminal,
        ended=lambda _, name, unfinished: name not in unfinished,
    ),
    "DescribeProcessingJob": Awaited(
        member="ProcessingJobName",
        waits=lambda answer: not JobStatus(answer["ProcessingJobStatus"]).terminal,
        ended=lambda _, name, unfinished: name not in unfinished,
    ),
    "DescribeTransformJob": Awaited(
        member="TransformJobName",
        waits=lambda answer: not JobStatus(answer["TransformJobStatus"]).terminal,
        ended=lambda _, name, unfinished: name not in unfinished,
    ),
    # One that is deleted is waited for until an error comes, which cannot follow the beginning of an answer.
    "DescribeEndpoint": Awaited(
        member="EndpointName",
        waits=lambda answer: answer["EndpointStatus"] in {CREATING, UPDATING},
        ended=lambda store, name, _: is_settled(store, name),
    ),
    # By the SDKs' own waiter, for which two statuses are no end: `unending`.
    "DescribePipelineExecution": Awaited(
        member="PipelineExecutionArn",
        waits=lambda answer: answer["PipelineExecutionStatus"] in {"Executing", "Stopping"},
        ended=_execution_ended,
        unending=lambda answer: answer["PipelineExecutionStatus"] in {"Stopped", "CompletedWithFailures"},
    ),
}


async def hold(serving: Serving, call: AwsCall, request: Request) -> None:
    """Return at once, or for the Describe of a waiter when there is nothing to wait for, or it is time to answer.

    `ClientDisconnect` if the client does not wait any longer.
    """
    awaited = _awaited(serving, call.operation, call.parameters, request)
    if awaited is None:
        return
    name = call.parameters[awaited.member]
    ended = asyncio.ensure_future(_ended(serving, awaited, name, seconds=_SILENT))
    gone = asyncio.ensure_future(request.receive())  # the body was read: only the end of the connection can come
    try:
        await asyncio.wait({ended, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not ended.done():
            # The client's read timeout may be shorter. If it asks again, it gets an answer at once.
            serving.status_watch.answered[name] = time.monotonic()
            raise ClientDisconnect
        await ended
    finally:
        ended.cancel()
        gone.cancel()


def goes_on(serving: Serving, operation: str, answer: Mapping[str, Any], request: Request) -> bool:
    """True if the answer to a waiter would be that it has to wait on."""
    awaited = _awaited(serving, operation, answer, request)
    return awaited is not None and not serving.status_watch.over and awaited.waits(answer)


def _say_unending(serving: Serving, operation: str, answer: Mapping[str, Any], request: Request) -> None:
    """Tell the owner once why a waiter does not return."""
    awaited = _AWAITED.get(operation)
    if awaited is None or not awaited.unending(answer) or not by_waiter(request.headers.get("user-agent", "")):
        return
    name = answer[awaited.member]
    if name not in serving.status_watch.unending:
        serving.status_watch.unending.add(name)
        status = next(value for member, value in answer.items() if member.endswith("Status"))
        serving.log(
            f"{name} is {status}. wait() of the SageMaker SDK does not know this status, and asks on for half an hour: "
            "end it with Ctrl-C."
        )


async def later_answer(serving: Serving, operation: str, answer: Mapping[str, Any]) -> AsyncIterator[bytes]:
    """White space while there is something to wait for, then the answer."""
    awaited = _AWAITED[operation]
    name, end = answer[awaited.member], time.monotonic() + _LONGEST - _SILENT
    while not await _ended(serving, awaited, name, seconds=_BETWEEN) and time.monotonic() < end:
        yield b" "
    serving.status_watch.answered[name] = time.monotonic()
    parameters = {awaited.member: name}
    call = AwsCall(
        service="sagemaker", operation=operation, parameters=parameters, region=serving.region, access_key=None
    )
    with suppress(SmlocalError, ServiceError):  # it was removed: the waiter asks again
        answer = await run_in_threadpool(find("sagemaker", operation), serving, call)
    yield encode(answer)


async def _ended(serving: Serving, awaited: Awaited, name: str, *, seconds: float) -> bool:
    return await serving.status_watch.until(
        lambda unfinished: awaited.ended(serving.store, name, unfinished), seconds=seconds
    )


def _awaited(serving: Serving, operation: str, named: Mapping[str, Any], request: Request) -> Awaited | None:
    """None if the call is not held."""
    awaited = _AWAITED.get(operation)
    if awaited is None or not by_waiter(request.headers.get("user-agent", "")):
        return None
    last = serving.status_watch.answered.get(named.get(awaited.member, ""), float("-inf"))
    return awaited if time.monotonic() - last > _SHORT_CLOCK else None


def by_waiter(user_agent: str) -> bool:
    """True if botocore says that a waiter makes the call: the letter B in the features `m/…` of its User-Agent."""
    features = next((part[2:] for part in user_agent.split() if part.startswith("m/")), "")
    return "B" in features.split(",")


Handler = Callable[[Serving, AwsCall], dict[str, Any]]
"""Makes the answer. It runs in a thread, may be called several times at once, and raises `ServiceError` to refuse."""

EMULATED = {
    "batch": "smlocal.endpoint.batch.operations:HANDLERS",
    "cloudwatch": "smlocal.endpoint.cloudwatch.operations:HANDLERS",
    "iam": "smlocal.endpoint.roles:IAM",
    "logs": "smlocal.endpoint.logs.operations:HANDLERS",
    "sagemaker": "smlocal.endpoint.sagemaker.operations:HANDLERS",
    "sts": "smlocal.endpoint.roles:STS",
}
"""The functions of each service, as botocore names it; imported when they are needed. S3 has a front of its own."""
VALIDATED_LATER = {("sagemaker", "CreateTrainingJob"), ("sagemaker", "CreateHyperParameterTuningJob")}
"""By the one place that validates job files too, which knows more than the model does."""
TAKES_LOCAL = {
    ("sagemaker", operation)
    for operation in (
        *("CreateModel", "CreateModelPackage", "CreateEndpointConfig", "CreateEndpoint", "UpdateEndpoint"),
        *("CreateProcessingJob", "CreateTransformJob"),
        *("CreatePipeline", "UpdatePipeline", "StartPipelineExecution"),
    )
}
"""Others with a `Local` block. That of an endpoint is made of those of its models, its configuration and itself."""


@cache
def handlers(service: str) -> Mapping[str, Handler]:
    """The emulated operations of a service."""
    if service not in EMULATED:
        return {}
    module, _, name = EMULATED[service].partition(":")
    found: Mapping[str, Handler] = getattr(import_module(module), name)
    return found


def find(service: str, operation: str) -> Handler:
    """The function for an operation; `ServiceError` if it is not emulated."""
    handler = handlers(service).get(operation)
    if handler is None:
        raise not_emulated(service, operation)
    return handler


def not_emulated(service: str | None, operation: str) -> ServiceError:
    """As AWS answers for an operation that does not exist, and says that smlocal lacks it."""
    known = ", ".join(handlers(service)) if service in EMULATED else ""
    has = (
        f" It emulates these of {service}: {known}."
        if known
        else f" It emulates no operation of {service or 'that service'}."
    )
    return ServiceError("UnknownOperationException", f"smlocal does not emulate {operation or 'this call'}.{has}")
