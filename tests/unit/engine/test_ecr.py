import base64
import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from smlocal.engine.pull import ecr_login
from smlocal.errors import ClockWrongError, CredentialsMissingError, RegistryUnreachableError

HOST = "123456789012.dkr.ecr.eu-west-1.amazonaws.com"


class Handler(BaseHTTPRequestHandler):
    server: "Stub"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the base class's name
        pass

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.seen.append((self.headers["X-Amz-Target"], self.headers["Authorization"]))
        status, document = self.server.answer
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/x-amz-json-1.1")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Stub(HTTPServer):
    answer: tuple[int, dict[str, Any]]

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen: list[tuple[str, str]] = []


@pytest.fixture(autouse=True)
def _no_credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import os

    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    with Stub() as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL_ECR", f"http://127.0.0.1:{server.server_address[1]}")
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    "image",
    [
        "img",
        "team/img:1",
        "public.ecr.aws/x/y",
        "12345.dkr.ecr.eu-west-1.amazonaws.com/x",
        f"evil.io/{HOST}/x",
        f"{HOST}.evil.io/x",
        HOST,
    ],
)
def test_other_images_need_no_token(image: str) -> None:
    assert ecr_login(image) is None


@pytest.mark.slow(0.5)
@pytest.mark.usefixtures("credentials")
@pytest.mark.parametrize(
    ("host", "region"),
    [
        (HOST, "eu-west-1"),
        ("123456789012.dkr.ecr-fips.us-gov-west-1.amazonaws.com", "us-gov-west-1"),
        ("123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn", "cn-north-1"),
    ],
)
def test_a_token_becomes_a_login(stub: Stub, host: str, region: str) -> None:
    token = base64.b64encode(b"AWS:pass:word").decode()
    stub.answer = (200, {"authorizationData": [{"authorizationToken": token, "proxyEndpoint": f"https://{host}"}]})
    login = ecr_login(f"{host}/team/img:1")
    assert login is not None
    assert (login.username, login.password, login.server) == ("AWS", "pass:word", host)
    ((target, authorization),) = stub.seen
    assert target.endswith(".GetAuthorizationToken")
    assert f"/{region}/ecr/aws4_request" in authorization


@pytest.mark.usefixtures("stub")
def test_no_credentials() -> None:
    with pytest.raises(CredentialsMissingError, match="needs valid AWS credentials") as caught:
        ecr_login(f"{HOST}/img")
    assert caught.value.exit_code == 3
    assert caught.value.details == ("Unable to locate credentials",)
    assert "aws sso login" in caught.value.remedy[0]


@pytest.mark.slow(0.5)
@pytest.mark.usefixtures("credentials")
@pytest.mark.parametrize("code", ["ExpiredTokenException", "UnrecognizedClientException", "AccessDeniedException"])
def test_credentials_that_do_not_work(stub: Stub, code: str) -> None:
    stub.answer = (400, {"__type": code, "message": "no longer"})
    with pytest.raises(CredentialsMissingError) as caught:
        ecr_login(f"{HOST}/img")
    assert code in caught.value.details[0]


@pytest.mark.usefixtures("credentials")
def test_a_wrong_clock(stub: Stub) -> None:
    said = "Signature expired: 20261120T100000Z is now earlier than 20261120T110000Z"
    stub.answer = (400, {"__type": "InvalidSignatureException", "message": said})
    with pytest.raises(ClockWrongError) as caught:
        ecr_login(f"{HOST}/img")
    assert said in caught.value.details[0]
    assert "timedatectl" in caught.value.remedy[0]


@pytest.mark.usefixtures("stub")
def test_a_profile_that_does_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "gone")
    with pytest.raises(CredentialsMissingError, match="credentials"):
        ecr_login(f"{HOST}/img")


@pytest.mark.usefixtures("credentials")
def test_ecr_out_of_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        monkeypatch.setenv("AWS_ENDPOINT_URL_ECR", f"http://127.0.0.1:{closed.getsockname()[1]}")
        with pytest.raises(RegistryUnreachableError, match="Amazon ECR in eu-west-1 is unreachable"):
            ecr_login(f"{HOST}/img")


@pytest.mark.slow(0.5)
@pytest.mark.usefixtures("credentials")
def test_a_proxy_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not the credentials, of which nothing is known."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{closed.getsockname()[1]}"
        for name in ("https_proxy", "HTTPS_PROXY"):
            monkeypatch.setenv(name, f"http://me:secret@{place}")
        monkeypatch.setenv("NO_PROXY", "")
        monkeypatch.setenv("no_proxy", "")
        with pytest.raises(RegistryUnreachableError) as caught:
            ecr_login(f"{HOST}/img")
    assert caught.value.remedy[0] == f"Does the proxy answer?  https_proxy is http://{place}"
