"""The endpoints of one test: the value of the fixture `endpoint`."""

import json
import os
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import pytest

import smlocal
from smlocal.api.endpoints import address_of, deploy_in_background, invoke, model_to_deploy, wait_in_service
from smlocal.api.stopping import wait_for_jobs
from smlocal.errors import EngineForbiddenError, EngineUnreachableError, JobFinishedError, JobUnknownError, SmlocalError
from smlocal.pytest_plugin.training_jobs import FinishedJob, exists, explained, unique_name

_LINES = 20
"""The lines of an endpoint's log in the report of a failed test."""
_STOPS_SECONDS = 60.0


class ServedAnswer:
    """What an endpoint has answered with 200."""

    def __init__(self, content: bytes, content_type: str, headers: Mapping[str, str]) -> None:
        """The whole answer."""
        self.content = content
        self.content_type = content_type
        self.headers = headers

    def __repr__(self) -> str:
        return f"<answer {self.content_type}: {self.content[:80]!r}>"

    @property
    def text(self) -> str:
        """The body as UTF-8."""
        return self.content.decode()

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.content)


class DeployedEndpoint:
    """The result of `endpoint(...)`: it is in service until the test has ended."""

    def __init__(self, name: str) -> None:
        """The endpoint of this name is in service."""
        self.name = name
        self.address, self.headers = address_of(name)
        """Where any HTTP client can send a request to, and the headers that it needs."""

    def __repr__(self) -> str:
        return f"<endpoint {self.name} at {self.address}>"

    def invoke(
        self,
        body: str | bytes,
        *,
        content_type: str | None = None,
        accept: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> ServedAnswer:
        """Do what InvokeEndpoint does. An error of the container fails the test, as a ModelError with its message."""
        __tracebackhide__ = True
        given = {"Content-Type": content_type, "Accept": accept, **(headers or {})}
        sent = {name: value for name, value in given.items() if value is not None}
        try:
            answer = invoke(self.name, body.encode() if isinstance(body, str) else body, sent)
            return ServedAnswer(b"".join(answer.pieces), answer.content_type, answer.headers)
        except SmlocalError as error:
            raise explained(error) from None

    @property
    def logs(self) -> str:
        """Everything that the container has written so far."""
        return "\n".join(smlocal.TrainingJob(self.name).logs())


class Endpoints:
    """Deploys for one test, and knows the endpoints afterwards."""

    def __init__(self, config: pytest.Config, test: str) -> None:
        """Nothing happens before the first endpoint."""
        self._config = config
        self._test = test
        self._names: list[str] = []

    def __call__(
        self,
        model: "FinishedJob | smlocal.TrainingJob | str | os.PathLike[str]",
        *,
        image: str | None = None,
        environment: Mapping[str, str] | None = None,
        name: str | None = None,
        startup_seconds: int | None = None,
    ) -> DeployedEndpoint:
        """Deploy as `smlocal deploy` does, and return once it is in service; the test fails if it does not get there.

        `model` is the result of `training_job`, the name of a job, an archive, a folder, or a model file.
        """
        __tracebackhide__ = True
        what = model.name if isinstance(model, FinishedJob | smlocal.TrainingJob) else os.fspath(model)
        name = name or unique_name(self._config, self._test)
        try:
            found, _ = model_to_deploy(
                what, image=image, variables=environment or {}, name=name, startup_seconds=startup_seconds
            )
            if not exists(name):  # another of that name is not one of ours: it is refused, and stays
                self._names.append(name)
            deploy_in_background(found, name=name, replace=False)
            endpoint = wait_in_service(name, working=lambda _: None)
        except (EngineUnreachableError, EngineForbiddenError) as error:
            if not self._config.getoption("--smlocal-required"):
                pytest.skip(f"no container engine: {error}")
            raise explained(error) from None
        except SmlocalError as error:
            raise explained(error) from None
        if endpoint.status != "InService":
            raise AssertionError(f"endpoint {name} is {endpoint.status}: {endpoint.record.failure_reason}")
        return DeployedEndpoint(name)

    def sections(self) -> "list[tuple[str, str]]":
        """A title and a text for each endpoint: its state, and the end of its log."""
        return [(f"endpoint {job.name}: {job.state}", "\n".join(_shown(job))) for job in self._made()]

    def remove(self, *, forget: bool) -> None:
        """Stop what still serves; `forget` removes the records and logs too."""
        for job in self._made():
            if forget:
                job.remove(stop=True)
                continue
            with suppress(JobFinishedError):
                job.stop(grace=0)
            wait_for_jobs([job.name], timeout=_STOPS_SECONDS)

    def _made(self) -> "Iterator[smlocal.TrainingJob]":
        for name in dict.fromkeys(self._names):
            with suppress(JobUnknownError):  # it was refused, or the test has removed it
                yield smlocal.TrainingJob(name)


def _shown(job: smlocal.TrainingJob) -> "Iterator[str]":
    local = job.describe()["Local"]
    if job.failure_reason is not None:
        yield job.failure_reason
    for word in ("Explanation", "PingTrouble"):
        if local.get(word):
            yield str(local[word])
    lines = deque(job.logs(), maxlen=_LINES)
    yield "--- the end of its log" if lines else "--- its log is empty"
    yield from lines
