"""Pages of a listing are answered as botocore's own parser answers them, without being parsed by it."""

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from botocore.exceptions import ClientError
from botocore.session import Session

from smlocal.data.sources.s3.aws_client import AwsClient

NAMESPACE = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'
TIMES = "<LastModified>2025-01-01T00:00:00.000Z</LastModified><StorageClass>STANDARD</StorageClass>"
OWNER = "<Owner><ID>1</ID></Owner>"
ONE = f"<Contents><Key>a</Key>{TIMES}<ETag>&quot;1&quot;</ETag><Size>7</Size>{OWNER}</Contents>"
TWO = f"<Contents><Size>0</Size><ETag>&quot;2-2&quot;</ETag><Key>b%2F%26+%25&amp;</Key>{TIMES}</Contents>"
BEYOND_ASCII = ONE.replace("<Key>a", "<Key>\u00e9\U0001f600")
REST = "<Name>bucket</Name><IsTruncated>true</IsTruncated><NextContinuationToken>a&lt;b</NextContinuationToken>"
ENCODED = "<EncodingType>url</EncodingType>"
UNDERSTOOD = {
    "usual": f"<ListBucketResult {NAMESPACE}>{REST}{ENCODED}{ONE}{TWO}</ListBucketResult>",
    "no namespace": f"<ListBucketResult>{ONE}{REST}{TWO}</ListBucketResult>",
    "prefixed names": (
        '<x:ListBucketResult xmlns:x="http://s3.amazonaws.com/doc/2006-03-01/"><x:Contents><x:Key>k</x:Key>'
        "<x:ETag>1</x:ETag><x:Size>1</x:Size></x:Contents></x:ListBucketResult>"
    ),
    "beyond ASCII": f"<ListBucketResult {NAMESPACE}>{ONE}{BEYOND_ASCII}</ListBucketResult>",
}
LEFT = {
    "empty": f"<ListBucketResult {NAMESPACE}>{REST}</ListBucketResult>",
    "no ETag": f"<ListBucketResult>{ONE}<Contents><Key>b</Key><Size>1</Size></Contents></ListBucketResult>",
    "no size": f"<ListBucketResult>{ONE}<Contents><Key>b</Key><ETag>1</ETag></Contents></ListBucketResult>",
}
ERRORS = {
    "error with status 200": "<Error><Code>InternalError</Code><Message>why</Message></Error>",
    "cut off": f"<ListBucketResult {NAMESPACE}>{ONE}<Contents><Key>",
    "not XML": "sorry",
}


@pytest.fixture(autouse=True)
def only_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")


@dataclass(kw_only=True)
class Page:
    """The page with which the server answers everything."""

    text: str = ""


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Any, Any, Page]]:
    """Our client and one of botocore, and the page that both get."""
    page = Page()

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = page.text.encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", f"http://127.0.0.1:{server.server_port}")
        ours, theirs = AwsClient("eu-west-1", retry_seconds=5), Session().create_client("s3", "eu-west-1")
        try:
            yield ours.client, theirs, page
        finally:
            ours.close()
            theirs.close()
            server.shutdown()


def listed(client: Any) -> tuple[list[tuple[str, int, str | None]], dict[str, Any]]:
    """The objects, and the rest of the answer."""
    answer = client.list_objects_v2(Bucket="bucket")
    del answer["ResponseMetadata"]
    objects = answer.pop("Contents", ())
    return [(each["Key"], int(each.get("Size", -1)), each.get("ETag")) for each in objects], answer


@pytest.mark.slow(0.5)
def test_the_answer_is_that_of_botocore(clients: tuple[Any, Any, Page]) -> None:
    ours, theirs, page = clients
    for name, page.text in {**UNDERSTOOD, **LEFT}.items():
        assert listed(ours) == listed(theirs), name


@pytest.mark.slow(0.5)
def test_errors_are_those_of_botocore(clients: tuple[Any, Any, Page]) -> None:
    *both, page = clients
    for name, page.text in ERRORS.items():
        said = []
        for client in both:
            with pytest.raises(ClientError) as caught:
                client.list_objects_v2(Bucket="bucket")
            said.append((str(caught.value), caught.value.response["ResponseMetadata"]["HTTPStatusCode"]))
        assert said[0] == said[1], name


@pytest.mark.slow(0.5)
def test_botocore_sees_no_objects(clients: tuple[Any, Any, Page]) -> None:
    """Neither its parser nor its handlers: a new botocore that orders or names its events differently fails here."""
    seen: list[bytes] = []
    ours, _, page = clients
    ours.meta.events.register_first("before-parse.s3.*", lambda response_dict, **_: seen.append(response_dict["body"]))
    for name, page.text in UNDERSTOOD.items():
        answer = ours.list_objects_v2(Bucket="bucket")
        assert all(set(each) == {"Key", "Size", "ETag"} for each in answer["Contents"]), name
        assert seen, name
        assert all(b"Contents" not in body for body in seen), name
        seen.clear()
