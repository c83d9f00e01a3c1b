"""Requests whose parts are not good values: each is refused or ignored, and none is an unexpected error."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import h11
import pytest
from tests.unit.endpoint.fuzz.asgi_client import Answer, ask

from smlocal.endpoint.application import Application
from smlocal.endpoint.browsers import Hosts
from smlocal.endpoint.http_server import listen
from smlocal.endpoint.serving import open_serving
from smlocal.endpoint.signature import Signatures

KEY = Signatures(access_key="AKIAOWNER", secret_key="its-secret")
S3 = "AWS4-HMAC-SHA256 Credential=k/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"
DIGITS = "9" * 5000
Ask = Callable[..., Answer]


@contextmanager
def asked(home: Path, signatures: Signatures | None) -> Iterator[Ask]:
    """A server, which answers and never says that something unexpected has happened."""
    said: list[str] = []
    with (
        listen("127.0.0.1", 0) as listener,
        open_serving(listener, log=said.append, environment={}) as serving,
        asyncio.Runner() as runner,
    ):
        (home / "buckets" / "data").mkdir(parents=True)
        (home / "buckets" / "data" / "k").write_bytes(b"0123456789")
        application = Application(serving, hosts=Hosts(), signatures=signatures)

        def answer(
            method: str, path: str, *, query: str = "", body: bytes = b"", headers: dict[str, Any] | None = None
        ) -> Answer:
            sent = {"host": "127.0.0.1:4597", "authorization": S3, **(headers or {})}
            raw = [(name, value if isinstance(value, bytes) else value.encode()) for name, value in sent.items()]
            got = runner.run(ask(application, method=method, path=path, query=query, body=body, headers=raw))
            assert said == [], "\n".join(said)
            assert got.status < 500 or got.status == 501, got
            # Headers that uvicorn hands on to h11, which refuses those that would break an answer apart.
            said_back = [(name.encode(), value.encode("latin-1")) for name, value in got.headers.items()]
            h11.Response(status_code=got.status, headers=said_back)
            return got

        yield answer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """One for all tests: its start takes longer than their requests."""
    home = tmp_path_factory.mktemp("odd") / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SMLOCAL_HOME", str(home))
        patch.setenv("DOCKER_HOST", "unix:///nowhere")
        with asked(home, None) as answer:
            yield answer


@pytest.fixture(scope="module")
def closed_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """One that demands signatures."""
    home = tmp_path_factory.mktemp("odd-signatures") / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SMLOCAL_HOME", str(home))
        with asked(home, KEY) as answer:
            yield answer


OVERRIDES = ("cache-control", "content-disposition", "content-encoding", "content-language", "content-type", "expires")


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_the_six_headers_that_s3_lets_a_query_set(server: Ask, method: str) -> None:
    query = "&".join(f"response-{name}=text%2Fa%3B%20b%E9".replace("%E9", "%C3%A9") for name in OVERRIDES)
    answer = server(method, "/data/k", query=query)
    assert answer.status == 200
    assert {answer.headers[name] for name in OVERRIDES} == {"text/a; b\xe9"}


@pytest.mark.parametrize(
    "name", ["content-security-policy", "set-cookie", "location", "x", "", "content-length", "etag", "refresh"]
)
def test_no_other_header_can_be_set_by_a_query(server: Ask, name: str) -> None:
    answer = server("GET", "/data/k", query=f"response-{name}=1")
    assert answer.status == 501
    assert b"<Code>NotImplemented</Code>" in answer.body
    assert "set-cookie" not in answer.headers
    assert "sandbox" in answer.headers["content-security-policy"]


@pytest.mark.parametrize("value", ["%ff", "%E2%82%AC", "a%0d%0aset-cookie:%20a", "a%00b", "%0a", "%7f", "%0ba"])
def test_values_that_are_no_header(server: Ask, value: str) -> None:
    for name in OVERRIDES:
        answer = server("GET", "/data/k", query=f"response-{name}={value}")
        assert answer.status == 400
        assert b"<Code>InvalidArgument</Code>" in answer.body
        assert f"<ArgumentName>response-{name}</ArgumentName>".encode() in answer.body


@pytest.mark.parametrize("value", ["", "%20", "%20a%20", "%09"])
def test_spaces_around_a_value(server: Ask, value: str) -> None:
    assert server("GET", "/data/k", query=f"response-content-type={value}").status == 200


def test_who_has_not_signed_cannot_set_headers(server: Ask) -> None:
    host = {"host": "data.s3.us-east-1.amazonaws.com", "authorization": ""}
    assert server("GET", "/k", headers=host).body == b"0123456789"
    answer = server("GET", "/k", query="response-content-type=text/html", headers=host)
    assert (answer.status, b"<Code>InvalidRequest</Code>" in answer.body) == (400, True)


@pytest.mark.parametrize("stated", [f"bytes={DIGITS}-", f"bytes=-{DIGITS}", f"bytes=0-{DIGITS}", f"bytes={DIGITS}-1"])
def test_ranges_of_five_thousand_digits(server: Ask, stated: str) -> None:
    answer = server("GET", "/data/k", headers={"range": stated})
    assert (answer.status, answer.body) == (200, b"0123456789")


@pytest.mark.parametrize(
    ("method", "path", "query", "headers"),
    [
        ("PUT", "/data/new", "", {"content-length": "0", "x-amz-decoded-content-length": DIGITS}),
        ("PUT", "/data/new", "", {"x-amz-copy-source": "/data/k", "if-unmodified-since": DIGITS}),
        ("PUT", "/data/new", f"partNumber=1&uploadId={DIGITS}", {"content-length": "0"}),
        ("PUT", "/data/new", f"partNumber={DIGITS}&uploadId=1", {"content-length": "0"}),
        (
            *("PUT", "/data/new", "partNumber=1&uploadId=UPLOAD"),
            {"x-amz-copy-source": "/data/k", "x-amz-copy-source-range": f"bytes=0-{DIGITS}"},
        ),
        ("GET", "/data", f"max-keys={DIGITS}", {}),
        ("GET", "/data", f"list-type=2&max-keys={DIGITS}&continuation-token={DIGITS}", {}),
        ("GET", "/", f"max-buckets={DIGITS}", {}),
        ("GET", "/data/k", f"partNumber={DIGITS}", {}),
        ("GET", "/data/k", "", {"if-modified-since": f"Mon, {DIGITS} Jan 2026 00:00:00 GMT"}),
        ("GET", "/data/k", "", {"if-modified-since": "Mon, 01 Jan 0001 00:00:00 -0000"}),
        ("GET", "/data/k", "", {"if-unmodified-since": "Mon, 01 Jan 0001 00:00:00 +2359"}),
        ("GET", "/data/k", "", {"if-unmodified-since": "Fri, 31 Dec 9999 23:59:59 -2359"}),
        ("POST", "/data/new", "uploadId=1", {"content-length": DIGITS}),
    ],
)
def test_other_numbers_of_five_thousand_digits(
    server: Ask, method: str, path: str, query: str, headers: dict[str, str]
) -> None:
    if "UPLOAD" in query:
        made = server("POST", path, query="uploads").body.decode()
        query = query.replace("UPLOAD", made.partition("<UploadId>")[2].partition("<")[0])
    server(method, path, query=query, headers=headers)


def test_checksums_in_trailers_that_are_no_header(server: Ask) -> None:
    headers = {
        "content-encoding": "aws-chunked",
        "x-amz-decoded-content-length": "5",
        "x-amz-content-sha256": "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
    }
    for trailer in (b"x-amz-checksum-a b:1", b"x-amz-checksum-crc64nvme:a\x00b", b"x-amz-checksum-\xff:1"):
        body = b"5\r\nhello\r\n0\r\n%s\r\n\r\n" % trailer
        server("PUT", "/data/new", body=body, headers={**headers, "content-length": str(len(body))})
        server("GET", "/data/new", headers={"x-amz-checksum-mode": "ENABLED"})


def test_calls_with_numbers_of_five_thousand_digits(server: Ask) -> None:
    for target, body in (
        ("SageMaker.ListTrainingJobs", f'{{"MaxResults": {DIGITS}}}'),
        ("SageMaker.ListTrainingJobs", f'{{"MaxResults": 1e{DIGITS}}}'),
        ("SageMaker.ListTrainingJobs", f'{{"CreationTimeAfter": {DIGITS}}}'),
        ("SageMaker.ListTrainingJobs", f'{{"CreationTimeAfter": "{DIGITS}"}}'),
        ("SageMaker.ListTrainingJobs", f'{{"NextToken": "{DIGITS}"}}'),
        ("SageMaker.Search", f'{{"Resource": "TrainingJob", "NextToken": "{DIGITS}"}}'),
        ("Logs_20140328.GetLogEvents", f'{{"logStreamName": "a/algo-1-1", "nextToken": "f/{DIGITS}/s"}}'),
        ("GraniteServiceVersion20100801.GetMetricData", f'{{"NextToken": "{DIGITS}"}}'),
    ):
        headers = {"x-amz-target": target, "authorization": "", "content-type": "application/x-amz-json-1.1"}
        server("POST", "/", body=body.encode(), headers=headers)
    for body in (
        f"Action=GetMetricStatistics&Version=2010-08-01&Namespace=a&MetricName=b&Period={DIGITS}",
        f"Action=SimulatePrincipalPolicy&Version=2010-05-08&PolicySourceArn=a&MaxItems={DIGITS}&Marker={DIGITS}",
        f"Action=GetRole&Version=2010-05-08&RoleName.member.{DIGITS}=1",
        f"Action=SimulatePrincipalPolicy&Version=2010-05-08&ActionNames.member.{DIGITS}=1",
    ):
        headers = {"authorization": "", "content-type": "application/x-www-form-urlencoded"}
        server("POST", "/", body=body.encode(), headers=headers)


TODAY = datetime.now(UTC).strftime("%Y%m%d")
NOW = f"{TODAY}T{datetime.now(UTC):%H%M%S}Z"


@pytest.mark.parametrize(
    "parts",
    [
        {"X-Amz-Signature": "é"},
        {"X-Amz-Signature": "\ud800"},
        {"X-Amz-Signature": ""},
        {"X-Amz-Signature": "0" * 50_000},
        {"X-Amz-Credential": f"AKIAOWNÉR/{TODAY}/us-east-1/s3/aws4_request"},
        {"X-Amz-Credential": f"AKIAOWNER/{TODAY}/\ud800é/s3/aws4_request"},
        {"X-Amz-Credential": f"AKIAOWNER/{TODAY}/us-east-1/é/aws4_request"},
        {"X-Amz-SignedHeaders": "host;é"},
        {"X-Amz-SignedHeaders": "host;\x00;:"},
        {"X-Amz-SignedHeaders": "host;\n\n"},
        {"X-Amz-Expires": DIGITS},
        {"X-Amz-Expires": "9" * 18},
        {"X-Amz-Expires": "nan"},
        {"X-Amz-Date": "\u0662\u0660\u0662\u0666\u0660\u0661\u0660\u0661T000000Z"},
        {"X-Amz-Date": "99999999T999999Z"},
        {"X-Amz-Date": "00010101T000000Z"},
    ],
)
def test_signatures_that_are_none(closed_server: Ask, parts: dict[str, str]) -> None:
    query = {
        "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
        "X-Amz-Credential": f"AKIAOWNER/{TODAY}/us-east-1/s3/aws4_request",
        "X-Amz-Date": NOW,
        "X-Amz-Expires": "300",
        "X-Amz-SignedHeaders": "host",
        "X-Amz-Signature": "0" * 64,
        **parts,
    }
    text = "&".join(f"{name}={quote(value, safe='', errors='surrogatepass')}" for name, value in query.items())
    for path in ("/data/k", "/data/%ff", "/data/%E2%82%AC"):
        assert closed_server("GET", path, query=text, headers={"authorization": ""}).status == 403, path


@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": f"AWS4-HMAC-SHA256 Credential=AKIAOWNER/{TODAY}/us-east-1/s3/aws4_request, ".encode() + tail}
        for tail in (
            b"SignedHeaders=host, Signature=\xff",
            b"SignedHeaders=host;\xff, Signature=" + b"0" * 64,
            b"SignedHeaders=host;x-amz-date, Signature=" + b"0" * 64,
        )
    ],
)
def test_signed_headers_that_are_none(closed_server: Ask, headers: dict[str, bytes]) -> None:
    for host in ("127.0.0.1:abc", "127.0.0.1:99999999", "127.0.0.1:", "[::1]:0x1", "127.0.0.1:\u0662"):
        answer = closed_server("GET", "/data/k", headers={**headers, "host": host, "x-amz-date": NOW})
        assert answer.status in {400, 403}, host


@pytest.mark.parametrize("kind", ["invocations", "invocations-response-stream"])
@pytest.mark.parametrize("name", ["none", "a" * 5000, "-", "é", "%ED%A0%80", "a%2Fb", "a%0d%0ax: y"])
def test_an_endpoint_of_an_odd_name_is_not_found(server: Ask, name: str, kind: str) -> None:
    for body in (b"", b"1,2", b"x" * 100_000):
        got = server("POST", f"/endpoints/{name}/{kind}", body=body, headers={"authorization": ""})
        assert got.status in {400, 404}
    assert server("GET", f"/endpoints/{name}/{kind}", headers={"authorization": ""}).status == 404


def test_an_invocation_is_looked_up_only_for_who_has_the_key(closed_server: Ask) -> None:
    got = closed_server("POST", "/endpoints/none/invocations", body=b"1", headers={"authorization": ""})
    assert (got.status, got.headers["x-amzn-errortype"]) == (403, "MissingAuthenticationTokenException")


def test_a_body_that_is_too_large_is_refused_in_the_words_of_the_runtime(server: Ask) -> None:
    for headers in ({}, {"content-length": str(26 << 20)}):
        got = server(
            "POST", "/endpoints/none/invocations", body=b"x" * (26 << 20), headers={"authorization": "", **headers}
        )
        assert got.status == 413
        assert b"has exceeded the upper limit of 26214400 bytes" in got.body
