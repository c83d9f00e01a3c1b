"""A server that demands signatures, driven by boto3 and by requests that were changed after they were signed."""

import itertools
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from botocore.auth import S3SigV4Auth, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.exceptions import ClientError
from tests.kit.boto_sessions import boto_session

from smlocal.endpoint.signature import Signatures

KEY = Signatures(access_key="AKIAOWNER", secret_key="its-secret")
NAMES = ["sagemaker", "logs", "cloudwatch", "sts", "iam", "s3"]
CALLS: dict[str, Callable[[Any], Any]] = {
    "sagemaker": lambda client: client.list_training_jobs(),
    "logs": lambda client: client.describe_log_groups(),
    "cloudwatch": lambda client: client.list_metrics(),
    "sts": lambda client: client.get_caller_identity(),
    "iam": lambda client: client.get_role(RoleName="any"),
    "s3": lambda client: client.list_buckets(),
}


@pytest.fixture
def address(make_endpoint: Callable[..., Any]) -> Iterator[str]:
    with make_endpoint(signatures=KEY) as endpoint:
        yield endpoint.address


def client(address: str, service: str, key: Signatures = KEY, **config: Any) -> Any:
    session = boto_session(
        aws_access_key_id=key.access_key, aws_secret_access_key=key.secret_key, region_name="eu-west-1"
    )
    return session.client(service, endpoint_url=address, config=Config(retries={"max_attempts": 0}, **config))


@pytest.mark.parametrize("service", NAMES)
def test_what_is_signed_with_the_key_is_answered(address: str, service: str) -> None:
    assert CALLS[service](client(address, service))["ResponseMetadata"]["HTTPStatusCode"] == 200


def test_services_with_operations_in_paths_are_refused_by_name_and_only_with_the_key(address: str) -> None:
    def refusal(key: Signatures) -> tuple[str, str]:
        with pytest.raises(ClientError) as refused:
            client(address, "sagemaker-gateway-runtime", key).invoke_global_inference_gateway(
                GatewayId="0123456789ab", ContentType="application/json", Body=b"{}"
            )
        error = refused.value.response["Error"]
        return error["Code"], error["Message"]

    code, message = refusal(KEY)
    assert code == "UnknownOperationException"
    named = "POST /global-inference-gateway/0123456789ab/invocations. It emulates these of sagemaker: "
    assert message.startswith(f"smlocal does not emulate {named}")
    assert refusal(Signatures(access_key=KEY.access_key, secret_key="guessed"))[0] == "403"


@pytest.mark.parametrize("service", NAMES)
def test_another_key_and_another_secret_are_refused(address: str, service: str) -> None:
    def code(key: Signatures) -> str:
        with pytest.raises(ClientError) as refused:
            CALLS[service](client(address, service, key))
        return str(refused.value.response["Error"]["Code"])

    unknown = {"s3": "InvalidAccessKeyId", "sts": "InvalidClientTokenId", "iam": "InvalidClientTokenId"}
    wrong = dict.fromkeys(["s3", "sts", "iam"], "SignatureDoesNotMatch")
    other = Signatures(access_key="AKIAOTHER", secret_key=KEY.secret_key)
    assert code(other) == unknown.get(service, "UnrecognizedClientException")
    guessed = Signatures(access_key=KEY.access_key, secret_key="guessed")
    assert code(guessed) == wrong.get(service, "InvalidSignatureException")


@pytest.mark.parametrize("algorithm", ["CRC32", "SHA256"])
def test_objects_with_every_character_in_a_key(address: str, algorithm: str) -> None:
    s3 = client(address, "s3")
    s3.create_bucket(Bucket="data")
    key = "a b/+~%2F!*'()&=é;:@,$"
    s3.put_object(Bucket="data", Key=key, Body=b"x" * 100_000, ChecksumAlgorithm=algorithm, Metadata={"a": "b  c"})
    assert s3.get_object(Bucket="data", Key=key)["Body"].read() == b"x" * 100_000
    assert [each["Key"] for each in s3.list_objects_v2(Bucket="data", Prefix="a b/+")["Contents"]] == [key]
    s3.delete_objects(Bucket="data", Delete={"Objects": [{"Key": key}]})


def test_presigned_addresses(address: str) -> None:
    s3 = client(address, "s3", signature_version="s3v4")
    s3.create_bucket(Bucket="data")
    parameters = {"Bucket": "data", "Key": "p q"}
    put = s3.generate_presigned_url("put_object", Params=parameters)
    assert _send("PUT", put, body=b"data") == (200, b"")
    get = s3.generate_presigned_url("get_object", Params=parameters, ExpiresIn=300)
    assert _send("GET", get) == (200, b"data")
    assert _send("GET", get.replace("Expires=300", "Expires=3000"))[0] == 403
    assert _send("GET", get.replace("p%20q", "other"))[0] == 403
    assert _send("PUT", get, body=b"other")[0] == 403
    old = client(address, "s3").generate_presigned_url("get_object", Params=parameters)
    assert b"Please use AWS4-HMAC-SHA256" in _send("GET", old)[1]


@pytest.mark.parametrize("minutes", [-16, 16, -24 * 60])
def test_a_clock_that_differs(address: str, minutes: int) -> None:
    status, body = _signed(address, "POST", "/", later=timedelta(minutes=minutes))
    assert (status, b"InvalidSignatureException" in body) == (400, True)
    status, body = _signed(address, "GET", "/", service="s3", later=timedelta(minutes=minutes))
    assert (status, b"RequestTimeTooSkewed" in body) == (403, True)


def test_a_clock_that_differs_a_little(address: str) -> None:
    for minutes in (-14, 14):
        assert _signed(address, "POST", "/", later=timedelta(minutes=minutes))[0] == 200


def test_what_was_changed_after_it_was_signed(address: str) -> None:
    assert _signed(address, "POST", "/")[0] == 200
    assert _signed(address, "POST", "/", body=b'{"MaxResults": 5}')[0] == 400
    assert _signed(address, "POST", "/", sent={"X-Amz-Target": "SageMaker.ListTags"})[0] == 400
    assert b"not signed" in _signed(address, "POST", "/", sent={"X-Amz-More": "1"})[1]
    assert _signed(address, "GET", "/", service="s3")[0] == 200
    assert _signed(address, "GET", "/data", service="s3", path="/other")[0] == 403
    assert _signed(address, "GET", "/?prefix=a", service="s3", path="/?prefix=b")[0] == 403


def test_the_body_of_an_object_is_part_of_what_is_signed(address: str) -> None:
    client(address, "s3").create_bucket(Bucket="data")
    assert _signed(address, "PUT", "/data/k", service="s3", body=b"")[0] == 200
    status, body = _signed(address, "PUT", "/data/k", service="s3", body=b"another")
    assert (status, b"XAmzContentSHA256Mismatch" in body) == (400, True)
    assert client(address, "s3").get_object(Bucket="data", Key="k")["Body"].read() == b""
    status, body = _signed(address, "POST", "/data?delete", service="s3", body=b"<Delete><Object/></Delete>")
    assert (status, b"XAmzContentSHA256Mismatch" in body) == (400, True)


def test_what_is_not_signed_is_refused(address: str) -> None:
    target = {"X-Amz-Target": "SageMaker.ListTrainingJobs"}
    assert b"MissingAuthenticationToken" in _send("POST", f"{address}/", body=b"{}", headers=target)[1]
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    call = b"Action=GetCallerIdentity&Version=2011-06-15"
    assert b"<Code>MissingAuthenticationToken<" in _send("POST", f"{address}/", body=call, headers=form)[1]
    assert _send("GET", f"{address}/")[0] == 403
    half = {"Authorization": "AWS4-HMAC-SHA256 Credential=AKIAOWNER/20261123/us-east-1/s3/aws4_request"}
    assert _send("GET", f"{address}/data", headers=half)[0] == 403


def _signed(
    address: str,
    method: str,
    url: str,
    *,
    service: str = "sagemaker",
    later: timedelta = timedelta(0),
    body: bytes | None = None,
    path: str | None = None,
    sent: dict[str, str] | None = None,
) -> tuple[int, bytes]:
    """Send a request with an empty body as it was signed, apart from `body`, `path` and the headers `sent`."""
    empty = b"{}" if service == "sagemaker" else b""
    request = AWSRequest(method=method, url=f"{address}{url}", data=empty)
    if service == "sagemaker":
        request.headers["X-Amz-Target"] = "SageMaker.ListTrainingJobs"
    kind = S3SigV4Auth if service == "s3" else SigV4Auth
    signer = kind(Credentials(KEY.access_key, KEY.secret_key), service, "us-east-1")
    request.context["timestamp"] = (datetime.now(UTC) + later).strftime("%Y%m%dT%H%M%SZ")
    signer._modify_request_before_signing(request)
    signature = signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request)
    signer._inject_signature_to_request(request, signature)
    headers = {**dict(request.headers.items()), **(sent or {})}
    return _send(method, f"{address}{path or url}", body=empty if body is None else body, headers=headers)


def _send(
    method: str, url: str, *, body: bytes | None = None, headers: dict[str, str] | None = None
) -> tuple[int, bytes]:
    parts = urlsplit(url)
    connection = HTTPConnection(parts.netloc, timeout=200)
    try:
        connection.request(method, f"{parts.path}?{parts.query}", body=body, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_a_server_on_all_addresses_prints_its_key_and_demands_it(smlocal_home: Path) -> None:
    command = [sys.executable, "-m", "smlocal", "serve", "--host", "0.0.0.0", "--port", "0"]
    environment = {**os.environ, "SMLOCAL_HOME": str(smlocal_home)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as server:
        try:
            said = "".join(itertools.islice(server.stderr or (), 3))
            address = re.search(r"http://0\.0\.0\.0:\d+", said)
            key = re.search(r"AWS_ACCESS_KEY_ID=(\S+) AWS_SECRET_ACCESS_KEY=(\S+)", said)
            assert address is not None
            assert key is not None
            here = address[0].replace("0.0.0.0", "127.0.0.1")
            sts = client(here, "sts", Signatures(access_key=key[1], secret_key=key[2]))
            assert sts.get_caller_identity()["Account"]
            with pytest.raises(ClientError, match="InvalidClientTokenId"):
                client(here, "sts").get_caller_identity()
        finally:
            server.terminate()
        assert server.wait(200) == 0
