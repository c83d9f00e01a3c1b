"""Messages of Callback steps in a queue of moto's, and what is said if they cannot get there."""

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.service.aws_answers import aws_answering

from smlocal.pipelines.queue_messages import send_message

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
    url, region = (made, "eu-central-1") if where == "in the URL" else (AT_AWS.replace("one", name), "us-east-1")
    if url != made:
        configuration.setenv("AWS_ENDPOINT_URL_SQS", sqs)
    message = {"token": "abcDEF1234", "arguments": {"rate": 0.5, "on": True, "text": "ä", "list": [1]}}
    assert send_message(url, message, region=region) is None
    received = client.receive_message(QueueUrl=made, MaxNumberOfMessages=10)["Messages"]
    assert [json.loads(each["Body"]) for each in received] == [message]


@pytest.mark.parametrize("url", ["", "unused", "https:///one", "http://[/one", "s3://bucket/key", "arn:aws:sqs:a:1:b"])
def test_not_an_address(url: str) -> None:
    why = send_message(url, {}, region="us-east-1")
    assert why == f"{url!r} is not the address of a queue, such as https://sqs.REGION.amazonaws.com/ACCOUNT/NAME"


REFUSALS = [
    ("QueueDoesNotExist", 400, "SQS refuses SendMessage; SendMessage: QueueDoesNotExist: said"),
    ("AccessDenied", 403, "the AWS credentials may not do sqs:SendMessage; SendMessage: AccessDenied: said"),
    ("InternalError", 500, "SQS cannot answer SendMessage now; SendMessage: InternalError: said"),
]


@pytest.mark.parametrize(("code", "status", "expected"), REFUSALS, ids=[each[0] for each in REFUSALS])
def test_a_queue_that_refuses(code: str, status: int, expected: str) -> None:
    refusal = {"__type": f"com.amazonaws.sqs#{code}", "message": "said"}
    with aws_answering({"SendMessage": (status, refusal)}) as address:
        assert send_message(f"{address}/123456789012/one", {}, region="us-east-1") == expected


def test_nothing_answers_or_there_are_no_keys(configuration: pytest.MonkeyPatch) -> None:
    why = send_message("http://127.0.0.1:1/1/one", {}, region="us-west-2")
    assert (why or "").startswith("SQS does not answer in us-west-2; ")
    configuration.delenv("AWS_ACCESS_KEY_ID")
    why = send_message(AT_AWS, {}, region="us-east-1")
    assert (why or "").startswith("SQS needs AWS credentials, and none were found")
