"""Calls that are far larger than any valid one: refused before they are worked on, with an answer of a page at most."""

import json
import os
from collections.abc import Iterator
from urllib.parse import quote_plus

import pytest
from tests.unit.endpoint.served_endpoint import Answer, Served, request, serve

from smlocal.base.files import remove_tree

_LARGE = (8 << 20) - 1000
_PARTS = "The body has more than 20,000 parts, which no valid call has."
_LEVELS = "The body has more than 50 levels, which no valid call has."
_S3 = (b"Authorization", b"AWS4-HMAC-SHA256 Credential=k/20260101/us-east-1/s3/aws4_request, SignedHeaders=host")
_HOST = (b"Host", b"localhost")
_MOST_ANSWER = 128 << 10


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serve(tmp_path_factory.mktemp("attack")) as server:
        yield server
        assert "Traceback" not in server.said()


def call(server: Served, target: str, body: bytes) -> Answer:
    headers = [_HOST, (b"Content-Type", b"application/x-amz-json-1.1"), (b"X-Amz-Target", target.encode())]
    answer = server.send(request("POST", b"/", headers, body))
    assert answer is not None
    assert len(answer.body) < _MOST_ANSWER
    return answer


def form(server: Served, body: bytes) -> Answer:
    kind = (b"Content-Type", b"application/x-www-form-urlencoded")
    answer = server.send(request("POST", b"/", [_HOST, kind], body))
    assert answer is not None
    assert len(answer.body) < _MOST_ANSWER
    return answer


def s3(server: Served, method: str, target: bytes, body: bytes = b"", *headers: tuple[bytes, bytes]) -> Answer:
    answer = server.send(request(method, target, [_HOST, _S3, *headers], body), method=method)
    assert answer is not None
    return answer


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"Tags":[' + b"{}," * (_LARGE // 3) + b"{}]}", _PARTS),
        (b'{"Tags":[' + b"1," * (_LARGE // 2) + b"1]}", _PARTS),
        (b"[" * _LARGE, _LEVELS),
        (b"[" * (_LARGE // 2) + b"]" * (_LARGE // 2), _LEVELS),
        (b'{"a":' * 51 + b"1" + b"}" * 51, _LEVELS),
        (b'{"' + b'":1,"'.join(b"k%d" % number for number in range(60_000)) + b'":1,"k1":1}', _PARTS),
        (b'{"TrainingJobName":"' + "é".encode("latin-1") + b'"}', "The body is not JSON."),
        ('{"TrainingJobName":"a"}'.encode("utf-16"), "The body is not JSON."),
    ],
    ids=["maps", "numbers", "open", "levels", "51 levels", "repeated key", "latin-1", "utf-16"],
)
@pytest.mark.parametrize("operation", ["CreateTrainingJob", "AddTags"])
def test_what_no_valid_call_has(server: Served, operation: str, body: bytes, message: str) -> None:
    answer = call(server, f"SageMaker.{operation}", body)
    assert answer.status == 400
    assert json.loads(answer.body) == {"__type": "SerializationException", "message": message}


@pytest.mark.slow(0.5)
def test_commas_and_brackets_in_texts_are_no_parts(server: Served) -> None:
    given = {"ResourceArn": "[{," * 30_000, "Tags": [{"Key": '\\"[{,', "Value": "]}"}]}
    answer = call(server, "SageMaker.AddTags", json.dumps(given).encode())
    assert json.loads(answer.body)["__type"] == "ValidationException"


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("operation", ["DescribeTrainingJob", "CreateTrainingJob"])
@pytest.mark.parametrize("character", ["a", "é", "{", "a://b:c/", "-a"])
def test_a_message_has_only_the_beginning_of_a_value(server: Served, operation: str, character: str) -> None:
    name = character * ((1 << 20) // len(character))
    given = {"TrainingJobName": name, "Tags": [{"Key": name[:100_000], "Value": name}]}
    answer = call(server, f"SageMaker.{operation}", json.dumps(given, ensure_ascii=False).encode())
    assert answer.status == 400
    assert json.loads(answer.body)["__type"] == "ValidationException"
    assert name[:3000] in json.loads(answer.body)["message"]


@pytest.mark.slow(0.5)
def test_not_every_one_of_thousands_of_mistakes_is_told(server: Served) -> None:
    channel = {"ChannelName": "a b", "InputMode": "x" * 1000, "DataSource": {"S3DataSource": {"S3DataType": "x"}}}
    given = {"TrainingJobName": "a b", "InputDataConfig": [channel] * 2000}
    for target in ("SageMaker.CreateTrainingJob", "SageMaker.UpdateTrainingJob"):
        rules = {"ProfilerRuleConfigurations": [{"RuleConfigurationName": "", "RuleEvaluatorImage": "x" * 1000}] * 2000}
        answer = call(server, target, json.dumps(given | rules).encode())
        assert answer.status == 400
        assert "validation errors detected" in json.loads(answer.body)["message"]


def test_the_name_of_an_operation_may_be_long(server: Served) -> None:
    answer = form(server, b"Version=2010-05-08&Action=" + b"x" * _LARGE)
    assert b"UnknownOperationException" in answer.body


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(
    "field",
    [b"a." * (_LARGE // 2), b"PolicyInputList.member.1" + b".a" * 20, b"%41" * (_LARGE // 3), b"a" * _LARGE + b".b"],
    ids=["levels", "21 levels", "escapes", "long"],
)
def test_a_form_has_few_levels(server: Served, field: bytes) -> None:
    answer = form(server, b"Version=2010-05-08&Action=SimulatePrincipalPolicy&" + field + b"=1")
    assert answer.status == 400


@pytest.mark.parametrize("number", ["1" * 5000, "1" * (1 << 20)])
def test_a_number_of_a_form_is_short(server: Served, number: str) -> None:
    answer = form(server, f"Version=2010-08-01&Action=GetMetricStatistics&Period={number}".encode())
    assert b"MalformedInput" in answer.body


def test_so_many_queries_at_once(server: Served) -> None:
    metric = {"Namespace": "/aws/sagemaker/TrainingJobs", "MetricName": "loss", "Dimensions": []}
    queries = [
        {"Id": f"q{number}", "MetricStat": {"Metric": metric, "Period": 60, "Stat": "Sum"}} for number in range(501)
    ]
    given = {"StartTime": 0, "EndTime": 60, "MetricDataQueries": queries}
    target = "GraniteServiceVersion20100801.GetMetricData"
    answer = call(server, target, json.dumps(given).encode())
    assert "must not have a size greater than 500" in json.loads(answer.body)["message"]
    given["MetricDataQueries"] = queries[:500]
    assert call(server, target, json.dumps(given).encode()).status == 200


@pytest.mark.parametrize("code", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32"])
def test_no_document_type_in_any_encoding(server: Served, code: str) -> None:
    text = '<!DOCTYPE a [<!ENTITY b "data/file">]><Delete><Object><Key>&b;</Key></Object></Delete>'
    answer = s3(server, "POST", b"/bucket?delete", text.encode(code))
    assert answer.status == 400
    assert b"MalformedXML" in answer.body
    assert (server.home / "buckets" / "bucket" / "data" / "file").exists()


def test_another_encoding_that_a_document_names_is_not_believed(server: Served) -> None:
    text = '<?xml version="1.0" encoding="cp1252"?><Delete><Object><Key>new/é</Key></Object></Delete>'
    assert s3(server, "POST", b"/bucket?delete", text.encode("cp1252")).status == 400
    assert "<Key>new/é</Key>" in s3(server, "POST", b"/bucket?delete", text.encode()).body.decode()


@pytest.mark.parametrize(
    "body",
    [
        b"<a>" * (_LARGE // 7) + b"</a>" * (_LARGE // 7),
        b"<Delete>" + b"<Object/>" * (_LARGE // 9) + b"</Delete>",
        b"<a " + b" ".join(b'b%d=""' % number for number in range(300_000)) + b"/>",
    ],
    ids=["levels", "elements", "attributes"],
)
def test_a_document_has_few_elements(server: Served, body: bytes) -> None:
    answer = s3(server, "POST", b"/bucket?delete", body)
    assert answer.status == 400
    assert b"MalformedXML" in answer.body


def test_a_checksum_that_is_not_ascii(server: Served) -> None:
    answer = s3(server, "PUT", b"/bucket/new", b"", (b"Content-MD5", b"\xff"))
    assert b"InvalidDigest" in answer.body


@pytest.mark.parametrize("token", ["WzEwMDAwMDAwMDAwMDAwMDAwMDAwMDAsIDFd", "WyJcdWQ4MDAiLCAxXQ==", "WzEsIDFd"])
def test_a_page_that_no_listing_has(server: Served, token: str) -> None:
    answer = call(server, "SageMaker.ListTrainingJobs", json.dumps({"NextToken": token}).encode())
    assert json.loads(answer.body) == {"__type": "ValidationException", "message": "Invalid pagination token."}
    page = server.send(request("GET", f"/?after={quote_plus(token)}".encode(), [_HOST]), method="GET")
    assert page is not None
    assert page.status == 400


@pytest.mark.slow
@pytest.mark.linux("the memory of a process in /proc")
def test_what_was_refused_is_forgotten(server: Served) -> None:
    """Also before the garbage collector looks: it seldom does."""
    body = json.dumps({"TrainingJobName": "a" * _LARGE}).encode()
    for _ in range(40):
        call(server, "SageMaker.DescribeTrainingJob", body)
    assert server.peak_mib() < 300


def test_a_path_is_no_longer_than_one_of_linux(server: Served) -> None:
    given = {"TrainingJobName": "a", "OutputDataConfig": {"S3OutputPath": "/" + "a/" * (1 << 20)}}
    answer = call(server, "SageMaker.CreateTrainingJob", json.dumps(given).encode())
    assert json.loads(answer.body)["message"].startswith("no file can have the name '/a/a/a/")


@pytest.mark.slow
def test_a_channel_of_folders_without_a_file(server: Served) -> None:
    folder = os.open(server.home / "buckets" / "empty", os.O_RDONLY)
    try:
        for _ in range(1500):
            os.mkdir("a", dir_fd=folder)
            inner = os.open("a", os.O_RDONLY, dir_fd=folder)
            os.close(folder)
            folder = inner
        source = {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://empty/a"}}
        given = {
            "TrainingJobName": "a",
            "RoleArn": "arn:aws:iam::000000000000:role/any",
            "AlgorithmSpecification": {"TrainingImage": "image", "TrainingInputMode": "File"},
            "InputDataConfig": [{"ChannelName": "a", "DataSource": source}],
            "OutputDataConfig": {"S3OutputPath": "s3://bucket/out"},
            "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
            "StoppingCondition": {"MaxRuntimeInSeconds": 60},
        }
        answer = call(server, "SageMaker.CreateTrainingJob", json.dumps(given).encode())
        assert "No S3 objects found" in json.loads(answer.body)["message"]
    finally:
        os.close(folder)
        remove_tree(str(server.home / "buckets" / "empty" / "a"))  # pytest would fail to
