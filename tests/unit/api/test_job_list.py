import os
from pathlib import Path

import pytest

from smlocal.api.job_list import job_documents, list_jobs
from smlocal.jobs.finish.describe import describe_job
from smlocal.jobs.store.jobs import Store


def test_a_job_of_replicas_is_listed_as_it_is_described(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMLOCAL_HOME", str(tmp_path))
    request = {"jobId": "census", "trainingInput": {"masterConfig": {"imageUri": "image"}}}
    lifecycle = {"Progress": {"ran_at": 3.5}}
    with Store.open(str(tmp_path)) as store:
        store.create(
            "named_here",
            run_id="0" * 8,
            created=1.0,
            documents={"request": request, "job": {"Data": request}, "lifecycle": lifecycle},
            supervisor_pid=os.getpid(),
            platform="ai_platform",
        )
        described = describe_job(store, "named_here", service=True)
    assert (described["jobId"], described["startTime"]) == ("census", "1970-01-01T00:00:03.500000Z")
    documents = job_documents(list_jobs(limit=None))
    assert documents == {
        "TrainingJobSummaries": [],
        "jobs": [{**described, "JobName": "named_here", "SupervisorGone": True}],
    }
