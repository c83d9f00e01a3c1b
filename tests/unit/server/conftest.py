"""A server without a port: handlers are called as the application calls them."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.answer_shapes import foreign_members
from tests.unit.report.conftest import StoredJob

from smlocal.server.call import Call
from smlocal.server.http_server import listen
from smlocal.server.operations import find
from smlocal.server.protocol.models import operation_model
from smlocal.server.protocol.validation import check_parameters
from smlocal.server.serving import Serving, open_serving

Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def serving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serving]:
    monkeypatch.setenv("SMLOCAL_HOME", str(tmp_path / "home"))
    with listen("127.0.0.1", 0) as listener, open_serving(listener, log=lambda _: None, environment={}) as opened:
        yield replace(opened, account="1" * 12)


@pytest.fixture
def ask(serving: Serving) -> Ask:
    """`ask("logs", "GetLogEvents", logStreamName=…)`: the answer, all of whose members are in the model."""

    def call(service: str, operation: str, **parameters: Any) -> dict[str, Any]:
        model = operation_model(service, operation)
        assert model is not None
        checked = check_parameters(model.input_shape, parameters)
        answer = find(service, operation)(
            serving,
            Call(service=service, operation=operation, parameters=checked, region="eu-west-1", access_key=None),
        )
        assert not foreign_members(model.output_shape, answer, operation)
        return answer

    return call


@pytest.fixture
def store_job(serving: Serving) -> Callable[..., StoredJob]:
    """Makes a running job."""

    def begin(name: str, **about: Any) -> StoredJob:
        job = StoredJob(store=serving.store, name=name, **about)
        job.begin()
        return job

    return begin
