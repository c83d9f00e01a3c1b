"""What a Callback sends, to a queue of moto's, and what is said if that fails."""

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.service.aws_answers import aws_answering

from smlocal import errors
from smlocal.pipelines.callbacks import TOKEN_LENGTH, callback_message, made_token, send_message

ARN = "arn:aws:sagemaker:eu-west-1:123456789012:pipeline/one/execution/abcdefghijkl"
AT_AWS = "https://sqs.eu-central-1.amazonaws.com/123456789012/one"


@pytest.fixture(autouse=True)
def configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Keys, and nothing else of AWS."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in {
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_CONFIG_FILE": str(tmp_path / "config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials"),
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_MAX_ATTEMPTS": "1",
    }.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


@pytest.fixture
def sqs() -> Iterator[str]:
    """The address of moto's queues."""
    from moto.moto_server.werkzeug_app import create_backend_app
    from werkzeug.serving import make_server

    server = make_server("127.0.0.1", 0, create_backend_app("sqs"), threaded=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join(200)
        server.server_close()


@pytest.mark.slow(2)
@pytest.mark.parametrize("where", ["in the URL", "in the configuration"])
def test_messages_are_in_the_queue(sqs: str, where: str, configuration: pytest.MonkeyPatch) -> None:
    import botocore.session

    name = where.replace(" ", "-")
    client: Any = botocore.session.get_session().create_client("sqs", region_name="eu-central-1", endpoint_url=sqs)
    made = client.create_queue(QueueName=name)["QueueUrl"]
    url, region = (made, "eu-central-1") if where == "in the URL" else (AT_AWS.replace("one", name), None)
    if region is None:
        configuration.setenv("AWS_ENDPOINT_URL_SQS", sqs)
    arguments = {"rate": 0.5, "on": True, "text": "ä", "list": [1]}
    sent = [
        callback_message("abcDEF1234", execution_arn=ARN, arguments=arguments, stopping=stopping)
        for stopping in (False, True)
    ]
    for message in sent:
        send_message(url, message, region=region)
    received = client.receive_message(QueueUrl=made, MaxNumberOfMessages=10)["Messages"]
    assert sorted((json.loads(each["Body"]) for each in received), key=lambda each: str(each["status"])) == sent
    assert sent == [
        {"token": "abcDEF1234", "pipelineExecutionArn": ARN, "arguments": arguments, "status": status}
        for status in ("Executing", "Stopping")
    ]


@pytest.mark.parametrize("url", ["", "unused", "https:///one", "http://[/one", "s3://bucket/key", "arn:aws:sqs:a:1:b"])
def test_not_an_address(url: str) -> None:
    with pytest.raises(errors.ServiceRefusedError, match="is no address of a queue"):
        send_message(url, {})


REFUSALS = [
    ("com.amazonaws.sqs#QueueDoesNotExist", 400, errors.ServiceRefusedError, "SQS refuses SendMessage"),
    ("AccessDenied", 403, errors.ServiceForbiddenError, "the AWS credentials may not do sqs:SendMessage"),
    ("InternalError", 500, errors.ServiceUnreachableError, "SQS cannot answer SendMessage now"),
]


@pytest.mark.parametrize(("code", "status", "kind", "sentence"), REFUSALS, ids=[each[0] for each in REFUSALS])
def test_a_queue_that_refuses(code: str, status: int, kind: type[errors.SmlocalError], sentence: str) -> None:
    with aws_answering({"SendMessage": (status, {"__type": code, "message": "said"})}) as address:
        with pytest.raises(errors.SmlocalError) as raised:
            send_message(f"{address}/123456789012/one", {}, region="us-east-1")
        assert type(raised.value) is kind
        assert raised.value.sentence == sentence
        assert "said" in str(raised.value.details)


def test_without_a_region_or_keys(configuration: pytest.MonkeyPatch) -> None:
    with pytest.raises(errors.RegionMissingError):
        send_message("http://127.0.0.1:1/1/one", {})
    with pytest.raises(errors.ServiceUnreachableError, match="SQS does not answer in us-east-1"):
        send_message("http://127.0.0.1:1/1/one", {}, region="us-east-1")
    configuration.delenv("AWS_ACCESS_KEY_ID")
    with pytest.raises(errors.CredentialsMissingError):
        send_message(AT_AWS, {})


def test_tokens() -> None:
    tokens = {made_token() for _ in range(1_000)}
    assert len(tokens) == 1_000
    assert all(len(each) == TOKEN_LENGTH and each.isascii() and each.isalnum() for each in tokens)
