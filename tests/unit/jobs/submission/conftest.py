"""A home without an engine, and a way to submit jobs to it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from smlocal.api.job_source import read_source
from smlocal.api.overrides import Overrides
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.records import JobRecord
from smlocal.jobs.submission.scheduler import InstanceLimit, record_waiting
from smlocal.sagemaker.jobfile.job_file import JobFile
from smlocal.sagemaker.training.planning import waiting_job

REQUEST: dict[str, Any] = {
    "AlgorithmSpecification": {
        "TrainingImage": "image",
        "TrainingInputMode": "File",
        "MetricDefinitions": [{"Name": "loss", "Regex": "loss=(.*)"}],
    },
    "RoleArn": "arn:aws:iam::123456789012:role/Training",
    "InputDataConfig": [
        {
            "ChannelName": "training",
            "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://bucket/data"}},
        }
    ],
    "OutputDataConfig": {"S3OutputPath": "s3://bucket/out"},
    "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 2, "VolumeSizeInGB": 1},
    "StoppingCondition": {"MaxRuntimeInSeconds": 60},
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SMLOCAL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    # Nothing here may ask an engine.
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere")
    (tmp_path / "started").mkdir()
    monkeypatch.chdir(tmp_path / "started")
    return tmp_path / "home"


@pytest.fixture
def store(home: Path) -> Iterator[Store]:
    with Store.open(str(home)) as opened:
        yield opened


@pytest.fixture
def submitted(store: Store) -> Callable[..., JobRecord]:
    """Submits a job."""

    def make(name: str = "Waits", limit: InstanceLimit | None = None, **members: Any) -> JobRecord:
        request = {"TrainingJobName": name, **REQUEST, **members}
        job, _ = read_source(
            {key: value for key, value in request.items() if value is not None}, Overrides(), strict=True
        )
        assert isinstance(job, JobFile)
        return record_waiting(waiting_job(job, name), name=name, store=store, limit=limit)

    return make
