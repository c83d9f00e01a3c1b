"""A new supervisor for a job whose folder was deleted, while its engine does not answer."""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from smlocal.api.recovering import recover
from smlocal.api.removing import remove
from smlocal.api.shell import find_containers
from smlocal.engine.engines import engines_at
from smlocal.errors import EarlierPlanError, JobNotAdoptedError
from smlocal.jobs.control.adopt import _end_without_folder
from smlocal.jobs.documents import LOCAL, RECALL
from smlocal.jobs.finish.describe import describe_job, mark_containers_kept
from smlocal.jobs.finish.unprepared import fail_with
from smlocal.jobs.planning.facts import Facts
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.planning.recall import remember
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.records import LeftOnEngine
from smlocal.terms.statuses import INTERNAL_ERROR, JobStatus

ABSENT = "unix:///absent.sock"


@pytest.fixture
def made(tmp_path: Path, plan: Callable[..., JobPlan], facts: Facts) -> JobPlan:
    engine = replace(facts.engines.first, address=ABSENT)
    return plan({"InputDataConfig": None}, job_directory=str(tmp_path / "jobs" / "job-1"), engine=engine)


@pytest.fixture
def store(tmp_path: Path, made: JobPlan, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """With this job, which nobody supervises and whose folder is gone."""
    monkeypatch.setenv("SMLOCAL_HOME", str(tmp_path))
    monkeypatch.setenv("SMLOCAL_ENGINE_TIMEOUT", "0.1")
    with Store.open(str(tmp_path)) as opened:
        opened.create(
            made.name,
            run_id=made.run_id,
            created=time.time(),
            documents={"request": dict(made.request), RECALL: remember(made)},
            supervisor_pid=None,
        ).release()
        shutil.rmtree(made.job_directory)
        yield opened


def test_it_is_told_like_any_other_that_cannot_be_adopted(store: Store, made: JobPlan) -> None:
    errors = recover(store, [made.name])
    assert isinstance(errors[made.name], JobNotAdoptedError)
    assert ABSENT in str(errors[made.name].details)


def test_it_ends_and_says_why(store: Store, made: JobPlan) -> None:
    lease = store.take_over(made.name, 1)
    assert lease is not None
    with lease:
        _end_without_folder(store, made, engines_at([ABSENT]))
    assert store.get(made.name).status is JobStatus.FAILED
    why = f"the folder of the job was deleted while it had no supervisor: {made.job_directory}"
    assert store.document(made.name, LOCAL)["Explanation"] == why
    assert store.left_on_engines() == [LeftOnEngine(run_id=made.run_id, name=made.name, engine=ABSENT)]


def test_an_ended_job_that_another_version_has_planned_is_described_and_removed(store: Store, made: JobPlan) -> None:
    store.put_document(made.name, RECALL, {**remember(made), "image": "held-tree:latest"})
    fail_with(store, made.name, INTERNAL_ERROR, explanation="it was abandoned")
    os.mkdir(made.job_directory)
    assert mark_containers_kept(made.job_directory)
    assert describe_job(store, made.name, final=True)["TrainingJobStatus"] == "Failed"
    with pytest.raises(EarlierPlanError, match="planned by another version"):
        find_containers(made.name)
    remove(store, made.name, stop=False, force=False, abandon=False, on_message=lambda _: None)
    assert store.names() == []
