"""How many hosts one machine plays."""

from typing import Any

import pytest

from smlocal.errors import TooManyHostsError
from smlocal.jobfile.document import Document
from smlocal.sagemaker.jobfile.job_file import JobFile, read_job
from smlocal.sagemaker.place import check_host_count
from smlocal.sagemaker.training.planning import requested_hosts


def job(resources: dict[str, Any]) -> JobFile:
    data: dict[str, Any] = {
        "AlgorithmSpecification": {"TrainingImage": "image", "TrainingInputMode": "File"},
        "OutputDataConfig": {"S3OutputPath": "./out"},
        "ResourceConfig": resources,
    }
    return read_job(Document(data, name="job.yaml", directory="/nowhere"), strict=False)


def one_kind(count: int) -> JobFile:
    return job({"InstanceType": "ml.m5.large", "InstanceCount": count})


def groups(*counts: int) -> JobFile:
    kinds = [
        {"InstanceGroupName": f"g{number}", "InstanceType": "ml.m5.large", "InstanceCount": count}
        for number, count in enumerate(counts)
    ]
    return job({"InstanceGroups": kinds})


@pytest.mark.parametrize("asked", [one_kind(33), groups(20, 13)])
def test_more_than_a_run_may_have(asked: JobFile) -> None:
    with pytest.raises(TooManyHostsError, match="33 hosts would be 33 containers at once") as caught:
        check_host_count(requested_hosts(asked), most=32)
    assert caught.value.exit_code == 3
    check_host_count(requested_hosts(asked), most=33)
    check_host_count(requested_hosts(asked), most=None)


@pytest.mark.parametrize("asked", [one_kind(10_000), one_kind(2_000_000_000), groups(500, 501)])
def test_more_than_can_be_planned(asked: JobFile) -> None:
    with pytest.raises(TooManyHostsError, match="the maximum is 1000"):
        check_host_count(requested_hosts(asked), most=None)
