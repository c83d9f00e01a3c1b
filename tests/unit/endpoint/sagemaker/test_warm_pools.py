"""Calls about jobs with warm pools, on jobs that are only stored."""

from collections.abc import Callable

import pytest
from tests.unit.endpoint.conftest import Ask
from tests.unit.report.conftest import StoredJob

from smlocal.endpoint.call import ServiceError
from smlocal.endpoint.serving import Serving
from smlocal.errors import JobUnknownError
from smlocal.jobs.store.resources import change_period, join, keep

FOR_EVER = 10**9
"""Seconds: the jobs ended long ago."""


def test_a_job_is_deleted_once_its_pool_is_over(
    ask: Ask, serving: Serving, store_job: Callable[..., StoredJob]
) -> None:
    job = store_job("has-pool", request={"ResourceConfig": {"KeepAlivePeriodInSeconds": FOR_EVER}})
    join(serving.store, job.name, "0" * 8, like="{}", seconds=FOR_EVER)
    keep(serving.store, job.name)
    job.end(5)
    assert ask("sagemaker", "DescribeTrainingJob", TrainingJobName=job.name)["WarmPoolStatus"]["Status"] == "Available"

    with pytest.raises(ServiceError, match=r"ValidationException: .* Available warm pool"):
        ask("sagemaker", "DeleteTrainingJob", TrainingJobName=job.name)
    assert serving.store.get(job.name).status == "Completed"

    assert change_period(serving.store, serving.store.get(job.name), 0)
    ask("sagemaker", "DeleteTrainingJob", TrainingJobName=job.name)
    with pytest.raises(JobUnknownError):
        serving.store.get(job.name)
