"""The inputs of a job, where this machine has no AWS credentials."""

import json
import os
from pathlib import Path

import pytest

from smlocal.api.job_source import read_document, read_file
from smlocal.api.overrides import Overrides
from smlocal.errors import CredentialsMissingError
from smlocal.jobs.planning.aspects.inputs.look import list_inputs, store_of
from smlocal.sagemaker.workload import workload_of


def channel(name: str, uri: str) -> dict[str, object]:
    return {
        "ChannelName": name,
        "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": uri}},
    }


def test_without_credentials_a_local_folder_is_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    (tmp_path / "a").touch()
    request = {
        "AlgorithmSpecification": {"TrainingImage": "image:1", "TrainingInputMode": "File"},
        "InputDataConfig": [
            channel("first", str(tmp_path)),
            channel("second", "s3://my-bucket/data/"),
            channel("third", "s3://other/data/"),
        ],
        "OutputDataConfig": {"S3OutputPath": "./out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 10},
        "StoppingCondition": {"MaxRuntimeInSeconds": 60},
    }
    path = tmp_path / "job.json"
    path.write_text(json.dumps(request))
    job, _ = read_document(read_file(str(path)), Overrides(), path=str(path), fill_in=False, strict=False)
    work = workload_of(job)
    with pytest.raises(CredentialsMissingError) as caught:
        list_inputs(work, strict=False, region="us-east-1", store=store_of(work, "us-east-1"))
    assert caught.value.remedy[0].startswith("Log in:")
    assert caught.value.remedy[-1] == "Or use a local folder, without AWS: --source s3://my-bucket/data=DIR"
