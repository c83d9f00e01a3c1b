"""A server without a port: handlers are called as the application calls them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.kit.answer_shapes import foreign_members
from tests.unit.report.conftest import StoredJob

from smlocal.endpoint.aws_calls import checked, find
from smlocal.endpoint.call import AwsCall
from smlocal.endpoint.protocol.models import operation_model
from smlocal.endpoint.serving import ContainerPort, Options, Serving, StatusWatch, WaitingJobs
from smlocal.jobs.store.jobs import Store

Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Serving]:
    with Store.open(str(tmp_path / "home")) as store, StatusWatch(store) as status_watch:
        yield Serving(
            store=store,
            # Its thread does not run: it would end jobs that have no process, which are those of these tests.
            waiting_jobs=WaitingJobs(store, limit=None, log=lambda _: None),
            status_watch=status_watch,
            container_port=ContainerPort(store.home, log=lambda _: None),
            buckets=f"{store.home}/buckets",
            artifacts=f"{store.home}/artifacts",
            account="1" * 12,
            region="eu-west-1",
            address="http://127.0.0.1:1",
            log=lambda _: None,
            submitted=lambda _: None,
            options=Options(),
        )


@pytest.fixture
def ask(serving: Serving) -> Ask:
    """`ask("logs", "GetLogEvents", logStreamName=…)`: the answer, all of whose members are in the model."""

    def call(service: str, operation: str, **parameters: Any) -> dict[str, Any]:
        model = operation_model(service, operation)
        assert model is not None
        given = checked(service, operation, model.input_shape, parameters)
        answer = find(service, operation)(
            serving,
            AwsCall(service=service, operation=operation, parameters=given, region="eu-west-1", access_key=None),
        )
        shape = model.output_shape
        assert not (answer if shape is None else foreign_members(shape, answer, operation))
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
