"""Airflow's operators for training jobs and pipelines."""

from collections.abc import Callable

import pytest
from tests.clients.conftest import User, last_json


@pytest.mark.slow(16)
@pytest.mark.long
def test_the_operator_waits_prints_the_log_and_fails_with_the_job(
    user: User, image: Callable[[str], str], assert_nothing_left: Callable[[str], None]
) -> None:
    done = user.execute("airflow", "airflow_operator.py", image("sh"), "airflow-operator")
    found = last_json(done.stdout)

    assert found == {
        "status": "Completed",
        "role": "arn:aws:iam::000000000000:role/training",
        "failed": "SageMaker resource failed because AlgorithmError: , exit code: 3",
    }
    assert "1,2" in done.stdout
    assert_nothing_left("airflow-operator")
    assert_nothing_left("airflow-operator-failed")


@pytest.mark.slow(16)
@pytest.mark.long
def test_pipelines_are_started_awaited_and_stopped(
    user: User, image: Callable[[str], str], assert_nothing_left: Callable[[str], None]
) -> None:
    done = user.execute("airflow", "airflow_pipeline.py", image("sh"))
    assert last_json(done.stdout) == {
        "stopped": ["Stopped", "Stopped"],
        "again": "Succeeded",
        "steps": [31, "DummyCond", "DummyCond29"],
        "package": "model-package/group/1",
        "pipelines": ["sleeps"],
    }
    jobs = [path.name for path in (user.home / "jobs").iterdir()]
    assert len(jobs) == 2, "the execution and the job of its step"
    for job in jobs:
        assert_nothing_left(job)
