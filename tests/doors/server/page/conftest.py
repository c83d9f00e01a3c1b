"""Jobs of a server, and its page as a client without a browser gets it."""

import http.client
import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from tests import kit


@dataclass(kw_only=True)
class Answer:
    """The server's answer."""

    status: int
    headers: Mapping[str, str]
    text: str


@dataclass(kw_only=True)
class PageClient:
    """Asks for pages, and sends their forms as a browser does."""

    address: str

    def get(self, path: str, *, headers: Mapping[str, str] | None = None, method: str = "GET") -> Answer:
        return self._ask(method, path, None, headers or {})

    def post(self, path: str, fields: Mapping[str, str], *, headers: Mapping[str, str] | None = None) -> Answer:
        own = {"Content-Type": "application/x-www-form-urlencoded", "Origin": self.address}
        return self._ask("POST", path, urlencode(fields), own | dict(headers or {}))

    def token(self, path: str) -> str:
        """The token of the form on a page."""
        found = re.search(r'name="token" value="([^"]+)"', self.get(path).text)
        assert found is not None
        return unescape(found[1])

    def _ask(self, method: str, path: str, body: str | None, headers: Mapping[str, str]) -> Answer:
        connection = http.client.HTTPConnection(urlsplit(self.address).netloc, timeout=200)
        connection.request(method, path, body, dict(headers))
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return Answer(
            status=answer.status, headers={name.lower(): value for name, value in answer.headers.items()}, text=text
        )


@pytest.fixture
def page_client() -> type[PageClient]:
    return PageClient


@pytest.fixture
def browserless(endpoint: Any) -> PageClient:
    return PageClient(address=endpoint.address)


@pytest.fixture
def script_job(image: Callable[[str], str]) -> Callable[..., dict[str, Any]]:
    """The request of a job that does what a script says."""

    def make(name: str, script: str, **more: Any) -> dict[str, Any]:
        resources = {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1}
        return {
            "TrainingJobName": name,
            "AlgorithmSpecification": {"TrainingImage": image("sh"), "TrainingInputMode": "File"},
            "RoleArn": "arn:aws:iam::000000000000:role/any",
            "OutputDataConfig": {"S3OutputPath": "s3://some-bucket/out"},
            "ResourceConfig": resources,
            "StoppingCondition": {"MaxRuntimeInSeconds": 1000},
            "Environment": {"SCRIPT": script},
            **more,
        }

    return make


@pytest.fixture
def run_job(endpoint: Any, script_job: Callable[..., dict[str, Any]]) -> Callable[..., None]:
    """Creates a job and waits until it has this status."""

    def run(name: str, script: str, *, until: str = "Completed", **more: Any) -> None:
        client = endpoint.client("sagemaker")
        client.create_training_job(**script_job(name, script, **more))
        wait_for(client, name, until)
        if until == "Training":  # and has done something: before its trap, a shell that is PID 1 ignores SIGTERM
            log = Path(endpoint.store.directory(name)) / "logs" / "algo-1.log"
            kit.until(lambda: log.exists() and log.stat().st_size > 0)

    return run


def wait_for(client: Any, name: str, wanted: str) -> None:
    end = time.monotonic() + 200
    while time.monotonic() < end:
        answer = client.describe_training_job(TrainingJobName=name)
        if wanted in {answer["TrainingJobStatus"], answer["SecondaryStatus"]}:
            return
        assert answer["TrainingJobStatus"] in {"InProgress", "Stopping"}, json.dumps(answer, default=str)
        time.sleep(0.1)
    raise AssertionError(f"{name} is not {wanted}: {answer}")
