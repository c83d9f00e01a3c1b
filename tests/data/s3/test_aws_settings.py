"""Buckets in other regions, those whose readers pay, proxies that are not for every host, and logins by SSO."""

import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.data.s3.troubled_proxy import TroubledProxy
from tests.kit.s3_servers import S3Server, environment, opened

from smlocal.data.sources.s3.client import S3Client
from smlocal.data.sources.s3.interface import S3Object

DATA = b"in another region"
Answer = tuple[int, dict[str, str], bytes]


@pytest.fixture
def serve() -> Iterator[Callable[[Callable[[Any], Answer]], str]]:
    """A server that answers as it is told, and its address."""
    servers: list[ThreadingHTTPServer] = []

    def start(answer: Callable[[Any], Answer]) -> str:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self) -> None:
                self.do_GET()

            def do_GET(self) -> None:
                status, headers, body = answer(self)
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def read(store: S3Client, wanted: S3Object, length: int) -> bytes:
    buffer = bytearray(length)
    return bytes(buffer[: store.read_into(wanted, 0, memoryview(buffer))])


@pytest.mark.parametrize("refusal", ["PermanentRedirect", "AuthorizationHeaderMalformed"])
def test_a_bucket_of_another_region(serve: Callable[..., str], refusal: str) -> None:
    seen: list[tuple[str, str]] = []

    def answer(request: Any) -> Answer:
        region = request.headers["Authorization"].split("/")[2]
        seen.append((request.command, region))
        if region == "us-west-2":
            return 200, {"ETag": '"e"'}, DATA
        document = f"<Error><Code>{refusal}</Code><Message>m</Message><Region>us-west-2</Region></Error>"
        status = 301 if refusal == "PermanentRedirect" else 400
        return status, {"x-amz-bucket-region": "us-west-2"}, document.encode()

    store = opened(environment(serve(answer)), retry_seconds=5)
    wanted = S3Object(bucket="bucket", key="k", size=len(DATA), etag='"e"')
    for _ in range(3):
        assert read(store, wanted, 100) == DATA
    assert store.head("bucket", "k").size == len(DATA)
    # From then on the region is known.
    assert [region for _, region in seen[-3:]] == ["us-west-2"] * 3
    store.close()


@pytest.mark.parametrize("arn", ["arn:aws:s3:us-west-2:1:accesspoint/name", "arn:aws:s3:us-west-2:1:accesspoint:name"])
def test_an_access_point(serve: Callable[..., str], arn: str) -> None:
    """The server is the proxy of a host that does not exist, so it sees the whole address."""
    arn = arn.replace(":1:", ":123456789012:")
    seen: list[str] = []

    def answer(request: Any) -> Answer:
        assert request.headers["Authorization"].split("/")[2] == "us-west-2"
        seen.append(f"{request.command} {request.path.partition('?')[0]}")
        if "list-type" in request.path:
            entry = b"<Contents><Key>a/k</Key><Size>17</Size><ETag>e</ETag></Contents>"
            return 200, {}, b"<ListBucketResult>" + entry + b"</ListBucketResult>"
        return 200, {"ETag": '"e"'}, DATA

    given = {"AWS_S3_USE_ARN_REGION": "true", "HTTP_PROXY": serve(answer)}
    store = opened({**environment("http://s3.test"), **given}, retry_seconds=5)
    listed = next(store.list_objects(arn, "a/"))
    assert store.head(arn, "a/k").size == listed.size == len(DATA)
    assert read(store, listed, 100) == DATA
    at = "http://name-123456789012.s3.test"
    assert seen == [f"GET {at}/", f"HEAD {at}/a/k", f"GET {at}/a/k"]
    store.close()


def test_whoever_reads_pays(s3: S3Server, proxy: TroubledProxy) -> None:
    bucket = s3.make_bucket()
    etag = s3.put(bucket, "k", b"data")
    store = opened({**environment(proxy.url), "AWS_REQUEST_PAYER": "requester"}, retry_seconds=20)
    assert next(store.list_objects(bucket, "")).size == 4
    assert store.head(bucket, "k").size == 4
    assert read(store, S3Object(bucket=bucket, key="k", size=4, etag=etag), 10) == b"data"
    assert len(proxy.requests) == 3
    assert all("x-amz-request-payer: requester" in head for head in proxy.requests)
    store.close()


@pytest.mark.parametrize(("excepted", "used"), [("example.com", True), ("example.com,127.0.0.1", False)])
def test_hosts_that_no_proxy_is_for(s3: S3Server, proxy: TroubledProxy, excepted: str, *, used: bool) -> None:
    bucket = s3.make_bucket()
    s3.put(bucket, "k", b"data")
    store = opened({**s3.environment, "HTTP_PROXY": proxy.url, "NO_PROXY": excepted}, retry_seconds=20)
    assert store.head(bucket, "k").size == 4
    assert read(store, S3Object(bucket=bucket, key="k"), 10) == b"data"
    assert [head.partition(" ")[0] for head in proxy.requests] == (["HEAD", "GET"] if used else [])
    store.close()


def test_a_login_by_sso(serve: Callable[..., str], tmp_path: Path) -> None:
    """As `aws sso login` leaves it; the portal is asked for the keys of the role."""
    asked: list[str] = []

    def portal(request: Any) -> Answer:
        asked.append(f"{request.path} {request.headers['x-amz-sso_bearer_token']}")
        keys = {"accessKeyId": "by", "secretAccessKey": "sso", "sessionToken": "t"}
        ends = int(time.time() + 3600) * 1000
        return 200, {}, json.dumps({"roleCredentials": {**keys, "expiration": ends}}).encode()

    start = "https://example.awsapps.com/start"
    cache = tmp_path / ".aws" / "sso" / "cache"
    cache.mkdir(parents=True)
    token = {"accessToken": "given", "expiresAt": "2100-01-01T00:00:00Z", "region": "eu-west-1", "startUrl": start}
    (cache / f"{hashlib.sha1(start.encode()).hexdigest()}.json").write_text(json.dumps(token))
    (tmp_path / "config").write_text(
        f"[profile dev]\nsso_start_url = {start}\nsso_region = eu-west-1\n"
        "sso_account_id = 123456789012\nsso_role_name = r\n"
    )
    url = serve(portal)
    given = environment(url, {"AWS_CONFIG_FILE": str(tmp_path / "config"), "AWS_PROFILE": "dev"})
    del given["AWS_ACCESS_KEY_ID"], given["AWS_SECRET_ACCESS_KEY"]
    program = (
        "from smlocal.data.sources.s3.aws_session import caller_credentials\n"
        "found = caller_credentials()\n"
        "print(found.access_key, found.secret_key, found.token, found.expires is not None)\n"
    )
    # A process of its own: botocore looks for the home directory when it is imported.
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "AWS_ENDPOINT_URL_SSO": url, **given},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout == "by sso t True\n", done.stderr
    assert asked == ["/federation/credentials?role_name=r&account_id=123456789012 given"]
