"""Requests made from botocore's models, valid and broken: every answer is one that botocore understands, and no 500.

SMLOCAL_EXAMPLES says how many of each kind.
"""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote_plus

import pytest
from botocore.parsers import create_parser
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from tests.kit.answer_shapes import check_answer
from tests.unit.endpoint.fuzz.asgi_client import Answer
from tests.unit.endpoint.fuzz.shape_strategies import NAMES, ODD, parameters

from smlocal.endpoint.aws_calls import EMULATED, handlers
from smlocal.endpoint.protocol.models import operation_model, service_model

_JSON = {"sagemaker": "1.1", "logs": "1.1", "cloudwatch": "1.0"}
_QUERY = ("cloudwatch", "sts", "iam")
_PATHS = ("batch",)
"""Their operations are in paths."""
_HOST = ("host", b"localhost")
_CASES = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]
)
"""The server and its jobs stay between examples, as they do for clients."""


@st.composite
def _operations(draw: DrawFn, services: tuple[str, ...]) -> tuple[str, str]:
    """Mostly those that are emulated."""
    if draw(st.integers(0, 9)):
        return draw(st.sampled_from([(service, name) for service in services for name in handlers(service)]))
    service = draw(st.sampled_from(services))
    return service, draw(st.sampled_from(list(service_model(service).operation_names)))


def _some_of(request: dict[str, Any]) -> SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(list(request)), max_size=2, unique=True) if request else st.just([])


@pytest.mark.slow(0.5)
@_CASES
@given(data=st.data())
def test_calls_in_json(server: Any, data: st.DataObject) -> None:
    service, operation = data.draw(_operations(tuple(_JSON)))
    model = operation_model(service, operation)
    assert model is not None
    given = data.draw(parameters(model.input_shape))
    if operation == "CreateTrainingJob" and isinstance(given, dict) and data.draw(st.integers(0, 3)):
        changes = {name: given[name] for name in data.draw(_some_of(given))}
        given = {**_VALID_JOB, "TrainingJobName": data.draw(st.sampled_from(NAMES)), **changes}
    answer = server.ask(
        headers=[_HOST, *_json_headers(service, operation)], body=json.dumps(given).encode(errors="surrogatepass")
    )
    _understood(model, answer, "json")


@pytest.mark.slow(0.5)
@_CASES
@given(data=st.data())
def test_calls_in_paths(server: Any, data: st.DataObject) -> None:
    service, operation = data.draw(_operations(_PATHS))
    model = operation_model(service, operation)
    assert model is not None
    given = data.draw(parameters(model.input_shape))
    if operation == "SubmitServiceJob" and isinstance(given, dict) and data.draw(st.booleans()):
        given = {**given, "serviceRequestPayload": json.dumps(data.draw(st.one_of(ODD, st.just(_VALID_JOB))))}
    headers = [("host", b"batch.us-east-1.amazonaws.com"), ("content-type", b"application/json")]
    body = json.dumps(given).encode(errors="surrogatepass")
    path = data.draw(st.sampled_from([f"/v1/{operation.lower()}"] * 5 + ["/v1/", "/v1/x", "/v1/submitservicejob/"]))
    _understood(
        model, server.ask(headers=headers, body=body, path=path), "rest-json", validate=path[4:] == operation.lower()
    )


@pytest.mark.slow(0.5)
@_CASES
@given(data=st.data())
def test_calls_as_forms(server: Any, data: st.DataObject) -> None:
    service, operation = data.draw(_operations(_QUERY))
    model = operation_model(service, operation)
    assert model is not None
    given = data.draw(parameters(model.input_shape))
    form = {"Action": operation, "Version": service_model(service).api_version}
    if isinstance(given, dict):
        form |= dict(_flat(model.input_shape, given, ""))
    if not data.draw(st.integers(0, 5)):
        form |= data.draw(st.dictionaries(st.sampled_from([*form, "A.member.1", "a..b", "."]), _FIELDS, max_size=3))
    answer = server.ask(headers=[_HOST, _FORM], body=_encoded(form))
    _understood(model, answer, "query")


_VALID_JOB: dict[str, Any] = {
    "TrainingJobName": "job-1",
    "AlgorithmSpecification": {"TrainingImage": "image", "TrainingInputMode": "File"},
    "RoleArn": "arn:aws:iam::000000000000:role/any",
    "OutputDataConfig": {"S3OutputPath": "s3://bucket/out"},
    "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
    "StoppingCondition": {"MaxRuntimeInSeconds": 60},
}
_FORM = ("content-type", b"application/x-www-form-urlencoded; charset=utf-8")
_FIELDS = st.one_of(
    st.text(max_size=10), st.sampled_from(["", "1" * 5000, "nan", "inf", "-1", "true", "\x00", "0001-01-01", "\u0661"])
)
_NUMBERED = st.sampled_from(["0", "1", "01", "-1", "x", "", "9" * 5000, "\u0663"])
_RAW_BODIES = st.one_of(
    st.binary(max_size=40),
    ODD.map(lambda value: json.dumps(value).encode()),
    st.sampled_from(
        [
            b"",
            b"[" * 100_000,
            b'{"a":' * 50_000,
            b'{"SearchExpression":' * 2000 + b"1" + b"}" * 2000,
            b"1" * 10_000,
            b'{"TrainingJobName":' + b"1" * 5000 + b"}",
            b'{"TrainingJobName":"job-1","TrainingJobName":"job-2"}',
            b'{"TrainingJobName":NaN}',
            b'{"TrainingJobName":"\\ud800"}',
            b'\xef\xbb\xbf{"TrainingJobName":"job-1"}',
            '{"TrainingJobName":"job-1"}'.encode("utf-16"),
            b'"' * 10_001,
            b"\xff\xfe\x00",
        ]
    ),
)


_TARGETS = st.one_of(
    st.sampled_from([b"", b".", b"SageMaker.", b"SageMaker", b"Logs_20140328.x.y", b"SageMaker." + b"x" * 9000]),
    st.binary(max_size=20),
)
_KINDS = st.sampled_from([b"application/x-amz-json-1.1", b"application/x-amz-json-1.0", b"text/html", b"", b"\xff"])
_HEADERS = st.lists(
    st.sampled_from(
        [
            ("authorization", b"AWS4-HMAC-SHA256 Credential=k/20260101/\xff\x00/sagemaker/aws4_request"),
            ("authorization", b"AWS4-HMAC-SHA256 Credential=k/20260101/cn-north-1/x/aws4_request"),
            ("authorization", b"\xff" * 100),
            ("user-agent", b"\xff m/\xff,"),
            ("content-length", b"-1"),
            ("content-length", "\u0663".encode()),
            ("content-length", b"9" * 20),
            ("content-encoding", b"gzip"),
            ("host", b"[::1"),
            ("origin", b"http://[::1"),
        ]
    ),
    max_size=2,
)


@_CASES
@given(data=st.data())
def test_bodies_and_headers_that_no_client_sends(server: Any, data: st.DataObject) -> None:
    service, operation = data.draw(_operations(tuple(_JSON)))
    target = data.draw(st.one_of(st.just(_target(service, operation)), _TARGETS))
    kind = data.draw(_KINDS)
    more = data.draw(_HEADERS)
    body = data.draw(_RAW_BODIES)
    answer = server.ask(headers=[*more, _HOST, ("content-type", kind), ("x-amz-target", target)], body=body)
    if answer.headers["content-type"].startswith("application/x-amz-json"):
        model = operation_model("sagemaker", "DescribeTrainingJob")
        _understood(model, answer, "json", validate=False)


@_CASES
@given(body=_RAW_BODIES, fields=st.dictionaries(st.text(max_size=5), _FIELDS, max_size=4), index=_NUMBERED)
def test_forms_that_no_client_sends(server: Any, body: bytes, fields: dict[str, str], index: str) -> None:
    model = operation_model("iam", "SimulatePrincipalPolicy")
    form = {
        "Version": "2010-05-08",
        "Action": "SimulatePrincipalPolicy",
        "PolicySourceArn": "arn:aws:iam::000000000000:role/any",
        f"ActionNames.member.{index}": "s3:GetObject",
    }
    for each in (body, _encoded(form | fields), _encoded(fields | {"Version": "2010-05-08"})):
        _understood(model, server.ask(headers=[_HOST, _FORM], body=each), "query", validate=False)


def _json_headers(service: str, operation: str) -> list[tuple[str, bytes]]:
    return [
        ("content-type", f"application/x-amz-json-{_JSON[service]}".encode()),
        ("x-amz-target", _target(service, operation)),
    ]


def _target(service: str, operation: str) -> bytes:
    return f"{service_model(service).metadata['targetPrefix']}.{operation}".encode()


def _flat(shape: Any, value: Any, place: str) -> Iterator[tuple[str, str]]:
    """As a query has it; what does not fit the shape is written as a text."""
    if isinstance(value, dict):
        for name, each in value.items():
            member = getattr(shape, "members", {}).get(name) if shape is not None else None
            written = name if member is None else member.serialization.get("name", name)
            yield from _flat(member, each, f"{place}.{written}" if place else written)
    elif isinstance(value, list):
        for number, each in enumerate(value, 1):
            yield from _flat(getattr(shape, "member", None), each, f"{place}.member.{number}")
    elif value is not None:
        yield place, str(value).lower() if isinstance(value, bool) else str(value)


def _encoded(form: dict[str, str]) -> bytes:
    return "&".join(
        f"{quote_plus(name, errors='surrogatepass')}={quote_plus(value, errors='surrogatepass')}"
        for name, value in form.items()
    ).encode()


def _understood(model: Any, answer: Answer, protocol: str, *, validate: bool = True) -> None:
    """botocore reads it; what was accepted has the members of the model, and what was refused a code and a message."""
    parsed = create_parser(protocol).parse(answer.for_parser(), model.output_shape)
    event(f"{model.name} {answer.status} {parsed.get('Error', {}).get('Code')}")
    if protocol == "json":
        json.loads(answer.body, parse_constant=pytest.fail)  # NaN is not JSON
    if answer.status == 200:
        if validate:
            check_answer(model, parsed, answer.body)
        return
    assert parsed["Error"]["Code"]
    assert parsed["Error"]["Code"] != "InternalFailure"
    assert parsed["Error"]["Message"]


def test_all_services_are_asked() -> None:
    assert {*_JSON, *_QUERY, *_PATHS} == set(EMULATED)
