"""Answers the calls that the containers of debugger rules may make: to stop a job, and to send messages."""

import time
import traceback
from collections.abc import Callable, Mapping
from typing import Any

from smlocal.errors import JobUnknownError, SmlocalError
from smlocal.job.history import DEFECT
from smlocal.platforms.sagemaker.contract.identity import DEFAULT_REGION
from smlocal.quick_dataclass import dataclass
from smlocal.server.call import Call, ServiceError
from smlocal.server.protocol import json_documents, query_answers, query_form
from smlocal.server.protocol.models import operation_model
from smlocal.server.protocol.routing import by_form, by_target, stated_scope
from smlocal.server.protocol.validation import check_parameters
from smlocal.server.rules.outbox import create_topic, list_subscriptions, publish, subscribe
from smlocal.server.rules.rule_serving import RuleServing
from smlocal.server.sagemaker.listing import list_training_jobs
from smlocal.server.sagemaker.stopping import stop_training_job


def _stop(serving: RuleServing, call: Call) -> dict[str, Any]:
    name = call.parameters["TrainingJobName"]
    try:
        over = serving.store.get(name).status.terminal
    except JobUnknownError:
        over = True
    if not over:
        serving.record(call, "stoptraining", {"TrainingJobName": name})  # first: the stop may end this job
    return stop_training_job(serving, call)


_HANDLERS: dict[tuple[str | None, str], Callable[[RuleServing, Call], dict[str, Any]]] = {
    ("sagemaker", "ListTrainingJobs"): list_training_jobs,
    ("sagemaker", "StopTrainingJob"): _stop,
    ("sns", "CreateTopic"): create_topic,
    ("sns", "ListSubscriptions"): list_subscriptions,
    ("sns", "Publish"): publish,
    ("sns", "Subscribe"): subscribe,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """Of HTTP."""

    status: int
    kind: str
    """Content-Type."""
    body: bytes


def answer(serving: RuleServing, headers: Mapping[str, str], body: bytes) -> Answer:
    """Answer one request. The names of the headers are in lower case."""
    target = headers.get("x-amz-target")
    if target is not None:
        return _answer_json(serving, headers, target, body)
    return _answer_query(serving, headers, body)


def _answer_json(serving: RuleServing, headers: Mapping[str, str], target: str, body: bytes) -> Answer:
    kind = "application/x-amz-json-1.1"
    try:
        asked = by_target(target)
        done = _call(serving, headers, asked, lambda _: json_documents.decode(body))
    except ServiceError as error:
        return Answer(status=error.status, kind=kind, body=json_documents.encode_error(error))
    return Answer(status=200, kind=kind, body=json_documents.encode(done))


def _answer_query(serving: RuleServing, headers: Mapping[str, str], body: bytes) -> Answer:
    try:
        form = query_form.read_form(body)
        asked = by_form(form)
        done = _call(serving, headers, asked, lambda shape: query_form.parameters(shape, form))
    except ServiceError as error:
        return Answer(status=error.status, kind="text/xml", body=query_answers.encode_error(error))
    return Answer(status=200, kind="text/xml", body=query_answers.encode(_model(asked), done))


def _call(
    serving: RuleServing, headers: Mapping[str, str], asked: tuple[str | None, str], read: Callable[[Any], Any]
) -> dict[str, Any]:
    shape = _model(asked).input_shape
    scope = stated_scope(headers.get("authorization"))
    call = Call(
        service=str(asked[0]),
        operation=asked[1],
        parameters=check_parameters(shape, read(shape)),
        region=DEFAULT_REGION if scope is None else scope.region,
        access_key=None if scope is None else scope.access_key,
    )
    try:
        return _HANDLERS[asked](serving, call)
    except ServiceError:
        raise
    except SmlocalError as error:
        raise ServiceError("InternalFailure", error.sentence, status=500) from error
    except Exception as error:
        defect = {"Thread": "rule-endpoint", "Traceback": traceback.format_exc()}
        serving.store.add_event(serving.job, time.time(), DEFECT, defect)
        raise ServiceError("InternalFailure", "The server has met an unexpected error.", status=500) from error


def _model(asked: tuple[str | None, str]) -> Any:
    service, operation = asked
    if service is None or asked not in _HANDLERS:
        known = ", ".join(name for _, name in _HANDLERS)
        raise ServiceError("UnknownOperationException", f"A debugger rule may call {known}; not {operation}.")
    return operation_model(service, operation)
