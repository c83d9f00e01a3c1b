"""The process that answers the calls of a job's debugger rules: `python -P -m smlocal.endpoint.rules.endpoint_process`.

The first line of standard input is a JSON document with the task; the listening socket is inherited. The process ends
with standard input, so it never outlives the supervisor of the job. It needs no package of the endpoint.
"""

import json
import re
import socket
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import field
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingMixIn, UnixStreamServer
from threading import Lock, Thread
from typing import Any
from uuid import uuid4

from smlocal.base.quick_dataclass import dataclass
from smlocal.endpoint.call import AwsCall, ServiceError
from smlocal.endpoint.protocol import json_documents, query
from smlocal.endpoint.protocol.aws_names import by_form, by_target, stated_scope
from smlocal.endpoint.protocol.models import check_parameters, operation_model
from smlocal.endpoint.sagemaker.jobs import TRAINING_JOBS, list_training_jobs
from smlocal.errors import JobUnknownError, SmlocalError
from smlocal.jobs.history import DEFECT, RULE_ACTION
from smlocal.jobs.store.jobs import Store
from smlocal.sagemaker.contract.identity import DEFAULT_REGION, arn

_MOST_BYTES = 1 << 20
_REQUEST_SECONDS = 60.0


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleServing:
    """The endpoint of the rules of one job. Threads share it."""

    store: Store
    job: str
    rules: Mapping[str, str]
    """The names of the rules, by the access key with which each signs."""
    lock: Lock = field(default_factory=Lock)
    """Held while a stored document is changed."""

    def record(self, call: AwsCall, action: str, data: Mapping[str, object]) -> None:
        """Add what a rule asks for to the history of its job."""
        rule = self.rules.get(call.access_key or "", "")
        event = {"Action": action, "RuleConfigurationName": rule, **data}
        self.store.add_event(self.job, time.time(), RULE_ACTION, event)


def _stop(serving: RuleServing, call: AwsCall) -> dict[str, Any]:
    name = call.parameters["TrainingJobName"]
    try:
        over = serving.store.get(name).status.terminal
    except JobUnknownError:
        over = True
    if not over:
        serving.record(call, "stoptraining", {"TrainingJobName": name})  # first: the stop may end this job
    return TRAINING_JOBS.stop(serving, call)


# The part of SNS that actions use. Messages are kept in the job's history and not sent.

_DOCUMENT = "rule-topics"
_TOPIC_NAME = re.compile(r"[A-Za-z0-9_-]{1,256}")
_PROTOCOLS = {"email", "sms"}


def create_topic(serving: RuleServing, call: AwsCall) -> dict[str, Any]:
    """The same topic for the same name."""
    name = call.parameters["Name"]
    if not _TOPIC_NAME.fullmatch(name):
        raise _invalid("Topic Name")
    account = serving.store.get(serving.job).arn.split(":")[4]
    topic = arn("sns", name, region=call.region, account=account)
    with serving.lock:
        topics = _topics(serving)
        if topic not in topics:
            serving.store.put_document(serving.job, _DOCUMENT, {**topics, topic: []})
    return {"TopicArn": topic}


def subscribe(serving: RuleServing, call: AwsCall) -> dict[str, Any]:
    """Subscriptions need no confirmation."""
    asked = call.parameters
    if asked["Protocol"] not in _PROTOCOLS:
        raise _invalid(f"Protocol {asked['Protocol']}: smlocal has {', '.join(sorted(_PROTOCOLS))}")
    if not asked.get("Endpoint"):
        raise _invalid("Endpoint")
    entry = {
        "SubscriptionArn": f"{asked['TopicArn']}:{uuid4()}",
        "Protocol": asked["Protocol"],
        "Endpoint": asked["Endpoint"],
        "FilterPolicy": _filter_policy((asked.get("Attributes") or {}).get("FilterPolicy", "{}")),
    }
    with serving.lock:
        topics = _topics(serving)
        same = [each for each in _of(topics, asked) if _without_arn(each) == _without_arn(entry)]
        if not same:
            topics[asked["TopicArn"]].append(entry)
            serving.store.put_document(serving.job, _DOCUMENT, topics)
    return {"SubscriptionArn": (same or [entry])[0]["SubscriptionArn"]}


def list_subscriptions(serving: RuleServing, _: AwsCall) -> dict[str, Any]:
    """Those of the rules of this job."""
    listed = [
        {
            "SubscriptionArn": each["SubscriptionArn"],
            "Owner": topic.split(":")[4],
            "Protocol": each["Protocol"],
            "Endpoint": each["Endpoint"],
            "TopicArn": topic,
        }
        for topic, entries in _topics(serving).items()
        for each in entries
    ]
    return {"Subscriptions": listed}


def publish(serving: RuleServing, call: AwsCall) -> dict[str, Any]:
    """Keep the message for each subscription whose filter lets it through."""
    asked = call.parameters
    attributes = {name: value.get("StringValue", "") for name, value in (asked.get("MessageAttributes") or {}).items()}
    for each in _of(_topics(serving), asked):
        if all(attributes.get(name) in allowed for name, allowed in each["FilterPolicy"].items()):
            message = {
                "Endpoint": each["Endpoint"],
                "Subject": asked.get("Subject", ""),
                "Message": asked["Message"],
            }
            serving.record(call, each["Protocol"], message)
    return {"MessageId": str(uuid4())}


def _topics(serving: RuleServing) -> dict[str, list[dict[str, Any]]]:
    """The subscriptions of each topic."""
    return dict(serving.store.document(serving.job, _DOCUMENT) or {})


def _of(topics: Mapping[str, list[dict[str, Any]]], asked: Mapping[str, Any]) -> list[dict[str, Any]]:
    if asked.get("TopicArn") not in topics:
        raise ServiceError("NotFound", "Topic does not exist", status=404)
    return topics[asked["TopicArn"]]


def _without_arn(subscription: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in subscription.items() if key != "SubscriptionArn"}


def _filter_policy(text: str) -> dict[str, list[str]]:
    """Only texts that have to be equal, as the debugger's library writes them."""
    try:
        policy = json.loads(text)
    except (ValueError, RecursionError):
        policy = None
    if not isinstance(policy, dict) or not all(
        isinstance(allowed, list) and all(isinstance(each, str) for each in allowed) for allowed in policy.values()
    ):
        raise _invalid("FilterPolicy: smlocal reads lists of texts")
    return policy


def _invalid(what: str) -> ServiceError:
    return ServiceError("InvalidParameter", f"Invalid parameter: {what}")


_HANDLERS: dict[tuple[str | None, str], Callable[[RuleServing, AwsCall], dict[str, Any]]] = {
    ("sagemaker", "ListTrainingJobs"): list_training_jobs,
    ("sagemaker", "StopTrainingJob"): _stop,
    ("sns", "CreateTopic"): create_topic,
    ("sns", "ListSubscriptions"): list_subscriptions,
    ("sns", "Publish"): publish,
    ("sns", "Subscribe"): subscribe,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class HttpAnswer:
    """An answer of HTTP."""

    status: int
    kind: str
    """Content-Type."""
    body: bytes


def answer(serving: RuleServing, headers: Mapping[str, str], body: bytes) -> HttpAnswer:
    """Answer one request. The names of the headers are in lower case."""
    target = headers.get("x-amz-target")
    if target is not None:
        return _answer_json(serving, headers, target, body)
    return _answer_query(serving, headers, body)


def _answer_json(serving: RuleServing, headers: Mapping[str, str], target: str, body: bytes) -> HttpAnswer:
    kind = "application/x-amz-json-1.1"
    try:
        asked = by_target(target)
        done = _call(serving, headers, asked, lambda _: json_documents.decode(body))
    except ServiceError as error:
        return HttpAnswer(status=error.status, kind=kind, body=json_documents.encode_error(error))
    return HttpAnswer(status=200, kind=kind, body=json_documents.encode(done))


def _answer_query(serving: RuleServing, headers: Mapping[str, str], body: bytes) -> HttpAnswer:
    try:
        form = query.read_form(body)
        asked = by_form(form)
        done = _call(serving, headers, asked, lambda shape: query.parameters(shape, form))
    except ServiceError as error:
        return HttpAnswer(status=error.status, kind="text/xml", body=query.encode_error(error))
    return HttpAnswer(status=200, kind="text/xml", body=query.encode(_model(asked), done))


def _call(
    serving: RuleServing, headers: Mapping[str, str], asked: tuple[str | None, str], read: Callable[[Any], Any]
) -> dict[str, Any]:
    shape = _model(asked).input_shape
    scope = stated_scope(headers.get("authorization"))
    call = AwsCall(
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


class _Server(ThreadingMixIn, UnixStreamServer):
    daemon_threads = True

    def __init__(self, listener: socket.socket, serving: RuleServing) -> None:
        super().__init__("", _Connection, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.serving = serving

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A container has closed its connection."""


class _Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = _REQUEST_SECONDS
    server: _Server

    def do_POST(self) -> None:
        """All calls are sent by this method."""
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdecimal()) or int(length) > _MOST_BYTES:
            self.close_connection = True
            self.send_error(413)
            return
        body = self.rfile.read(int(length))
        done = answer(self.server.serving, {name.lower(): value for name, value in self.headers.items()}, body)
        self.send_response(done.status)
        self.send_header("Content-Type", done.kind)
        self.send_header("Content-Length", str(len(done.body)))
        self.end_headers()
        self.wfile.write(done.body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as the base class names it
        """Drop the message: it has no reader."""


def main() -> None:
    """The program."""
    task = json.loads(sys.stdin.buffer.readline())
    with (
        socket.socket(fileno=task["Socket"]) as listener,
        Store.open(task["Home"]) as store,
        _Server(listener, RuleServing(store=store, job=task["Job"], rules=task["Rules"])) as server,
    ):
        Thread(target=server.serve_forever, name="rule-endpoint", daemon=True).start()
        sys.stdin.buffer.read()
        server.shutdown()


if __name__ == "__main__":
    main()
