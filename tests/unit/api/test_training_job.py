"""The answers and refusals of a `TrainingJob` without an engine."""

from collections.abc import Callable
from pathlib import Path

import pytest

from smlocal import TrainingJob
from smlocal.errors import (
    JobNotFinishedError,
    JobNotInterruptibleError,
    JobUnknownError,
    NothingToPackError,
    NothingToPublishError,
    SmlocalError,
)
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.lease import Lease
from smlocal.terms.statuses import COMPLETED, JobPhase, JobStatus, PhaseMessage


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a finished job and a running one."""
    monkeypatch.setenv("SMLOCAL_HOME", str(tmp_path))
    plan = {
        "TrainingJobArn": "arn:…",
        "Hosts": [{"Name": "algo-1"}, {"Name": "algo-2"}],
        "Output": {"S3ModelArtifacts": "s3://bucket/job/output/model.tar.gz"},
        "Region": "us-east-1",
    }
    with Store.open(str(tmp_path)) as store:
        for name in ("done", "running"):
            documents = {"request": {}, "plan": plan}
            store.create(name, run_id="0" * 8, created=1.0, documents=documents, supervisor_pid=None, instances=2)
            store.transition(
                name,
                status=JobStatus.IN_PROGRESS,
                phase=JobPhase.TRAINING,
                message=PhaseMessage.TRAINING,
                at=1.5,
                start_training=True,
            )
        store.transition("done", status=COMPLETED.status, phase=COMPLETED.phase, message=COMPLETED.message, at=2.0)
    return tmp_path


def test_what_is_known_of_a_job(home: Path) -> None:
    job = TrainingJob("done")
    assert not job.supervised
    assert job.log_files == {host: f"{home}/jobs/done/logs/{host}.log" for host in ("algo-1", "algo-2")}
    assert "<title>" in job.report()
    assert "Completed" in job.report()
    lease = Lease.take(f"{home}/jobs/running")
    assert lease is not None
    with lease:
        assert TrainingJob("running").supervised


REFUSED: list[tuple[str, Callable[[TrainingJob], object], type[SmlocalError]]] = [
    ("done", TrainingJob.interrupt, JobNotInterruptibleError),
    ("done", TrainingJob.pack, NothingToPackError),
    ("done", TrainingJob.publish, NothingToPublishError),
    ("running", TrainingJob.pack, JobNotFinishedError),
    ("running", TrainingJob.publish, JobNotFinishedError),
    ("running", TrainingJob.remove, JobNotFinishedError),
]


@pytest.mark.parametrize(("name", "call", "error"), REFUSED, ids=lambda each: getattr(each, "__name__", each))
def test_what_is_refused(
    name: str, call: Callable[[TrainingJob], object], error: type[SmlocalError], home: Path
) -> None:
    lease = Lease.take(f"{home}/jobs/running")
    assert lease is not None
    with lease, pytest.raises(error):
        call(TrainingJob(name))


def test_a_removed_job_is_unknown() -> None:
    job = TrainingJob("done")
    job.remove()
    with pytest.raises(JobUnknownError):
        _ = job.status
