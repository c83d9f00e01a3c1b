"""The recorded request of a job, read again with changes."""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from smlocal.ai_platform.jobfile.job_file import ReplicaJobFile
from smlocal.api.overrides import Overrides, member_path
from smlocal.api.recorded_job import read_recorded
from smlocal.errors import JobUnknownError, RequestInvalidError, UsageRefusedError
from smlocal.jobs.store.jobs import Store
from smlocal.sagemaker.jobfile.job_file import JobFile

REQUEST: dict[str, Any] = {
    "TrainingJobName": "tree-20261120-141200-123",
    "AlgorithmSpecification": {"TrainingImage": "image", "TrainingInputMode": "File"},
    "HyperParameters": {"lr": "1", "a.b": "2"},
    "OutputDataConfig": {"S3OutputPath": "./out"},
    "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
    "InputDataConfig": [
        {
            "ChannelName": "train",
            "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "./data"}},
        }
    ],
}


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setenv("SMLOCAL_HOME", str(tmp_path))
    with Store.open(str(tmp_path)) as opened:
        yield opened


@pytest.fixture
def record(store: Store) -> Callable[..., None]:
    def make(name: str, **members: Any) -> None:
        documents = {
            "request": {},
            "job": {"Data": {**REQUEST, **members}, "File": "job.yaml", "Directory": "/started/here"},
            "recall": {"output": {"directory": f"/started/here/smlocal-output/{name}"}},
        }
        store.create(name, run_id="0" * 8, created=1.0, documents=documents, supervisor_pid=os.getpid())

    return make


def read_again(recorded: str, given: Overrides, *, members: dict[str, Any], strict: bool) -> tuple[JobFile, str]:
    job, name = read_recorded(recorded, {**given, "members": members}, strict=strict)
    assert isinstance(job, JobFile)
    return job, name


@pytest.mark.parametrize(
    ("recorded", "begins"), [("tree-20261120-141200-123", "tree"), ("my-tree", "my-tree"), ("a" * 63, "a" * 43)]
)
def test_the_new_name(recorded: str, begins: str, record: Callable[..., None]) -> None:
    record(recorded)
    job, name = read_again(recorded, Overrides(), members={}, strict=False)
    assert re.fullmatch(rf"{begins}-\d{{8}}-\d{{6}}-\d{{3}}", name)
    assert job.request.TrainingJobName == name != recorded
    assert job.document.directory == "/started/here"
    assert job.request.InputDataConfig is not None


def test_flags_override_members_and_members_override_the_request(record: Callable[..., None]) -> None:
    record("tree")
    members = {
        "HyperParameters.a.b": "3",
        "HyperParameters.lr": "5",
        "ResourceConfig.InstanceCount": 2,
        "InputDataConfig[0].DataSource.S3DataSource.S3Uri": "./other",
        "Local.Sources.s3://bucket/a.b": "./there",
    }
    overrides: Overrides = {"hyperparameters": {"lr": 0.1}, "name": "chosen"}
    job, name = read_again("tree", overrides, members=members, strict=False)
    assert name == "chosen"
    assert job.raw["HyperParameters"] == {"lr": "0.1", "a.b": "3"}
    assert job.raw["ResourceConfig"]["InstanceCount"] == 2
    assert job.raw["InputDataConfig"][0]["DataSource"]["S3DataSource"]["S3Uri"] == "./other"
    assert job.local.Sources == {"s3://bucket/a.b": "./there"}
    again, _ = read_again("tree", Overrides(), members={}, strict=False)
    assert again.raw["HyperParameters"] == REQUEST["HyperParameters"]


def test_a_job_with_output_in_s3_writes_where_it_wrote_before(record: Callable[..., None]) -> None:
    record("tree", OutputDataConfig={"S3OutputPath": "s3://bucket/out"})
    job, _ = read_again("tree", Overrides(), members={}, strict=False)
    assert job.local.Output == "/started/here/smlocal-output"
    record("stated", OutputDataConfig={"S3OutputPath": "s3://bucket/out"}, Local={"Output": "/elsewhere"})
    job, _ = read_again("stated", Overrides(), members={}, strict=False)
    assert job.local.Output == "/elsewhere"


@pytest.mark.usefixtures("store")
def test_a_job_that_is_not_there() -> None:
    with pytest.raises(JobUnknownError):
        read_again("nobody", Overrides(), members={}, strict=False)


def test_a_change_that_the_service_refuses_names_the_job(record: Callable[..., None]) -> None:
    record("tree")
    with pytest.raises(RequestInvalidError, match="command line") as raised:
        read_again("tree", Overrides(), members={"ResourceConfig.InstanceCount": 0}, strict=False)
    assert "InstanceCount" in str(raised.value.details)
    with pytest.raises(RequestInvalidError, match="cannot be set"):
        read_again("tree", Overrides(), members={"TrainingJobName.X": 0}, strict=False)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("RoleArn", ("RoleArn",)),
        ("A.B1.C", ("A", "B1", "C")),
        ("A[0][12].B", ("A", 0, 12, "B")),
        ("HyperParameters", ("HyperParameters",)),
        ("HyperParameters.a[0].b", ("HyperParameters", "a[0].b")),
        ("Local.Endpoints.s3", ("Local", "Endpoints", "s3")),
    ],
)
def test_paths_of_members(text: str, path: tuple[str | int, ...]) -> None:
    assert member_path(text) == path


@pytest.mark.parametrize("text", ["", ".", "A..B", "A.", "A[x]", "A[-1]", "[0]", "A[0", "HyperParameters.", "A[99999]"])
def test_what_is_not_a_path(text: str) -> None:
    with pytest.raises(UsageRefusedError, match="not the path of a member"):
        member_path(text)


@pytest.mark.parametrize(
    ("recorded", "begins"), [("census_20261120_141200_123", "census_20"), ("census_1", "census_1_20")]
)
def test_a_recorded_job_of_another_platform_gets_a_name_of_its_kind(recorded: str, begins: str, store: Store) -> None:
    data = {
        "jobId": recorded,
        "trainingInput": {
            "scaleTier": "CUSTOM",
            "masterType": "n1-standard-4",
            "masterConfig": {"imageUri": "image"},
            "region": "europe-west4",
        },
    }
    documents = {"request": {}, "job": {"Data": data, "File": "job.yaml", "Directory": "/started/here"}}
    store.create(
        recorded, run_id="0" * 8, created=1.0, documents=documents, supervisor_pid=os.getpid(), platform="ai_platform"
    )
    members = {"trainingInput.region": "us-east1"}
    job, name = read_recorded(recorded, Overrides(keep="all", members=members), strict=False)
    assert re.fullmatch(r"[a-z0-9]+(_[0-9]+)+", name)
    assert name.startswith(begins)
    assert name != recorded
    assert isinstance(job, ReplicaJobFile)
    assert job.request["trainingInput"]["region"] == "us-east1"
    assert job.local.Keep == "all"
    with pytest.raises(UsageRefusedError, match="--image"):
        read_recorded(recorded, Overrides(image="other"), strict=False)
