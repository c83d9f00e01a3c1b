"""The page of a tuning job, which has no host and no log of its own."""

import asyncio

import pytest
from tests.unit.endpoint.conftest import Ask
from tests.unit.endpoint.fuzz.asgi_client import Answer
from tests.unit.endpoint.fuzz.asgi_client import ask as ask_application
from tests.unit.endpoint.sagemaker.test_tuning_jobs import request

from smlocal.endpoint.application import Application
from smlocal.endpoint.browsers import Hosts
from smlocal.endpoint.serving import Serving
from smlocal.terms.statuses import STOPPED, StopCause


@pytest.fixture
def tuning_job(ask: Ask) -> str:
    ask("sagemaker", "CreateHyperParameterTuningJob", **request())
    return "held"


def page(serving: Serving, path: str) -> Answer:
    async def answer() -> Answer:
        application = Application(serving, hosts=Hosts(), signatures=None)
        return await ask_application(application, headers=[("host", b"localhost")], body=b"", method="GET", path=path)

    return asyncio.run(answer())


def test_its_page_shows_the_search_and_no_log(serving: Serving, tuning_job: str) -> None:
    answer = page(serving, f"/-/jobs/{tuning_job}")
    assert answer.status == 200
    assert b'<p class="kind">Tuning job</p>' in answer.body
    assert b"Stop this tuning job" in answer.body
    assert b'id="log"' not in answer.body
    assert page(serving, f"/-/jobs/{tuning_job}/logs/algo-1").status == 404


def test_its_events_end_with_it(serving: Serving, tuning_job: str) -> None:
    stopped = STOPPED[StopCause.REQUEST]
    serving.store.transition(
        tuning_job, status=stopped.status, phase=stopped.phase, message=stopped.message, at=2_000_000_000.0
    )
    answer = page(serving, f"/-/jobs/{tuning_job}/events")
    assert (answer.status, b"event: end" in answer.body) == (200, True)
