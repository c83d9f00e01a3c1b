"""The next supervisor of a search: it asks no engine, because a search has no container."""

import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.sagemaker.tuning.test_tuning_file import REQUEST as ASKED

from smlocal.jobfile.document import Document
from smlocal.jobs.control.adopt import adopt
from smlocal.jobs.control.requests import WAKE_SIGNAL
from smlocal.jobs.documents import DECISION, JOB, LOCAL, RECALL, REQUEST, decision_document, ended_block
from smlocal.jobs.finish.describe import describe_job
from smlocal.jobs.history import STOP
from smlocal.jobs.planning.model import IdentityPlan, RecordedPlan
from smlocal.jobs.planning.recall import remember
from smlocal.jobs.store.jobs import Store
from smlocal.sagemaker.tuning.facts import NAME as KIND
from smlocal.terms.statuses import COMPLETED, JobStatus, PhaseMessage, StopCause

pytestmark = pytest.mark.usefixtures("signals")
NAME = "search"


@pytest.fixture
def signals() -> Iterator[None]:
    """A supervisor has its process ignore signals after the end, for it does nothing else."""
    numbers = signal.SIGINT, signal.SIGTERM, signal.SIGHUP, WAKE_SIGNAL
    before = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """With a search that nobody supervises, on a machine without an engine."""
    monkeypatch.setenv("DOCKER_HOST", "unix:///absent.sock")
    request = json.loads(json.dumps(ASKED))
    document = Document(request, name="tuning.yaml", directory=str(tmp_path))
    plan = RecordedPlan(
        platform=KIND,
        name=NAME,
        run_id="0a",
        job_directory=str(tmp_path / "home" / "jobs" / NAME),
        request={"HyperParameterTuningJobName": NAME, **request},
        identity=IdentityPlan(arn="arn:a", region="us-east-1", account="000000000000"),
        details={"Image": {"Name": "image", "Id": "sha256:0"}, "Engine": {}, "Output": str(tmp_path / "out")},
    )
    with Store.open(str(tmp_path / "home")) as opened:
        opened.create(
            NAME,
            run_id=plan.run_id,
            created=time.time(),
            documents={REQUEST: dict(plan.request), RECALL: remember(plan), JOB: document.record()},
            supervisor_pid=None,
            platform=KIND,
        ).release()
        yield opened


def test_it_ends_as_the_first_one_had_decided(store: Store) -> None:
    store.put_document(NAME, LOCAL, {**ended_block(), DECISION: decision_document(COMPLETED, None)})
    assert adopt(store, NAME)
    assert store.get(NAME).status is JobStatus.COMPLETED


def test_it_goes_on_with_a_stop(store: Store) -> None:
    data = {"Cause": StopCause.REQUEST, "Grace": None}
    store.add_request(NAME, at=time.time(), kind=STOP, data=data, stopping=PhaseMessage.STOPPING)
    assert adopt(store, NAME)
    answer = describe_job(store, NAME, final=True)
    assert answer["HyperParameterTuningJobStatus"] == "Stopped"
    local = answer["Local"]
    assert (local["TrainingJobs"], local["Hosts"], local["Attempts"], local["Image"]) == ([], [], 1, "sha256:0")
    assert not adopt(store, NAME)
