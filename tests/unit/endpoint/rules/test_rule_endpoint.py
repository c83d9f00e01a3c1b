"""The endpoint of debugger rules, called by boto3 as the debugger's library calls it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from smlocal_rules import endpoint_forwarder
from smlocal_rules.endpoint_forwarder import forward
from smlocal_rules.failures import RuleError
from tests.kit.boto_sessions import boto_session
from tests.unit.report.conftest import StoredJob

from smlocal.api.debugging import actions_of_rules
from smlocal.debugger.rule_container import ActionSocket, client_environment
from smlocal.endpoint.http_server import listen
from smlocal.jobs.control.requests import open_wakeup
from smlocal.jobs.history import RULE_ACTION, STOP
from smlocal.jobs.store.jobs import Store
from smlocal.sagemaker.training.rules_of_job import stops_by_others


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StoredJob]:
    home = str(tmp_path / ("home-" + "x" * 100))  # longer than the path of a socket may be
    monkeypatch.setenv("SMLOCAL_HOME", home)
    with Store.open(home) as store:
        job = StoredJob(store=store, name="Acts-1")
        lease = job.create()
        job.train()
        wakeup = open_wakeup(store.directory(job.name))  # without it, the supervisor would be woken by a signal
        yield job
        os.close(wakeup)
        lease.release()


@pytest.fixture
def endpoint(job: StoredJob) -> Iterator[ActionSocket]:
    folder = str(job.directory / "rules" / "endpoint")
    endpoint = ActionSocket(home=job.store.home, job=job.name, folder=folder, rules=["First", "Second"])
    endpoint.open()
    yield endpoint
    endpoint.close()


@pytest.fixture
def session(endpoint: ActionSocket, monkeypatch: pytest.MonkeyPatch) -> Any:
    """As in the container of the second rule."""
    for name, value in client_environment(1, "eu-west-1").items():
        monkeypatch.setenv(name, value)
    with listen("127.0.0.1", 0) as free:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{free.getsockname()[1]}")
    monkeypatch.chdir(endpoint.folder)  # a container sees it at a short path
    forward("aws.sock")
    return boto_session()


@pytest.mark.slow(0.5)
def test_a_job_is_stopped(job: StoredJob, session: Any) -> None:
    client = session.client("sagemaker")
    asked = {"NameContains": "Acts", "SortBy": "CreationTime", "SortOrder": "Descending", "StatusEquals": "InProgress"}
    (listed,) = client.list_training_jobs(**asked)["TrainingJobSummaries"]
    assert listed["TrainingJobName"] == "Acts-1"
    client.stop_training_job(TrainingJobName="Acts-1")
    assert [each.kind for each in job.store.events(job.name) if each.kind in {RULE_ACTION, STOP}] == [RULE_ACTION, STOP]
    assert stops_by_others(job.store, job.name) == 0
    (action,) = actions_of_rules(job.name)
    assert (action["RuleConfigurationName"], action["TrainingJobName"]) == ("Second", "Acts-1")
    with pytest.raises(ClientError, match="Requested resource not found"):
        client.stop_training_job(TrainingJobName="another")
    with pytest.raises(ClientError, match="A debugger rule may call ListTrainingJobs"):
        client.describe_training_job(TrainingJobName="Acts-1")


@pytest.mark.slow(0.5)
def test_messages_are_kept(job: StoredJob, session: Any) -> None:
    client = session.client("sns")
    topic = client.create_topic(Name="SMDebugRules")["TopicArn"]
    assert topic == "arn:aws:sns:eu-west-1:000000000000:SMDebugRules"
    assert client.list_subscriptions()["Subscriptions"] == []
    for protocol, name, endpoint in (("email", "email", "me@example.com"), ("sms", "phone_num", "+1555")):
        policy = {"FilterPolicy": json.dumps({name: [endpoint]})}
        for _ in range(2):
            client.subscribe(TopicArn=topic, Protocol=protocol, Endpoint=endpoint, Attributes=policy)
    listed = client.list_subscriptions()["Subscriptions"]
    assert [(each["Protocol"], each["Endpoint"], each["TopicArn"]) for each in listed] == [
        ("email", "me@example.com", topic),
        ("sms", "+1555", topic),
    ]
    attributes = {"phone_num": {"DataType": "String", "StringValue": "+1555"}}
    message = {"Subject": "SMDebugRule:R fired", "Message": "SMDebugRule:R fired. ", "MessageAttributes": attributes}
    assert client.publish(TopicArn=topic, **message)["MessageId"]
    (action,) = actions_of_rules(job.name)
    assert (action["Action"], action["Endpoint"], action["RuleConfigurationName"]) == ("sms", "+1555", "Second")
    assert action["Message"] == "SMDebugRule:R fired. "


@pytest.mark.slow(0.5)
def test_a_call_waits_for_the_next_supervisor(endpoint: ActionSocket, session: Any) -> None:
    client = session.client("sns")
    endpoint.close()
    with ThreadPoolExecutor() as pool:
        call = pool.submit(client.create_topic, Name="SMDebugRules")
        assert not wait([call], timeout=0.5).done  # passes: nobody listens yet
        endpoint.open()
        assert call.result(60)["TopicArn"].endswith(":SMDebugRules")


def test_an_endpoint_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint_forwarder, "_FIRST_SECONDS", 0.0)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RuleError, match="cannot reach"):
        forward("aws.sock")


@pytest.mark.slow(0.5)
def test_messages_that_are_refused(session: Any) -> None:
    client = session.client("sns")
    topic = client.create_topic(Name="SMDebugRules")["TopicArn"]
    for asked in ({"Protocol": "sqs", "Endpoint": "x"}, {"Protocol": "email"}):
        with pytest.raises(client.exceptions.InvalidParameterException):
            client.subscribe(TopicArn=topic, **asked)
    policy = {"FilterPolicy": '{"size": [{"numeric": [">", 1]}]}'}
    with pytest.raises(client.exceptions.InvalidParameterException, match="FilterPolicy"):
        client.subscribe(TopicArn=topic, Protocol="email", Endpoint="me@example.com", Attributes=policy)
    with pytest.raises(client.exceptions.InvalidParameterException):
        client.create_topic(Name="no name")
    with pytest.raises(client.exceptions.NotFoundException):
        client.publish(TopicArn=f"{topic}2", Message="nobody")


def test_its_process_needs_no_package_of_the_endpoint() -> None:
    program = "import sys, smlocal.endpoint.rules.endpoint_process; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert {"starlette", "uvicorn", "h11", "cryptography", "jinja2"}.isdisjoint(done.stdout.split())
