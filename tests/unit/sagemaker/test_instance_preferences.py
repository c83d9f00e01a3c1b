"""The instance type of a job that prefers some."""

from typing import Any

import pytest

from smlocal.jobfile.document import Document
from smlocal.sagemaker.contract.requested import hosts_of
from smlocal.sagemaker.jobfile.job_file import JobFile, read_job
from smlocal.sagemaker.simulated import faults_to_come, has_capacity

LARGE, SMALL = {"InstanceType": "ml.c5.xlarge", "InstanceCount": 1}, {"InstanceType": "ml.m5.large", "InstanceCount": 2}
NO_LARGE, NO_SMALL, NONE = (
    {"Kind": "CapacityError", **more}
    for more in ({"Instance": "ml.c5.xlarge"}, {"Instance": "ml.m5.large"}, dict[str, str]())
)


def job(*faults: dict[str, Any], **resources: Any) -> JobFile:
    data: dict[str, Any] = {
        "AlgorithmSpecification": {"TrainingImage": "image", "TrainingInputMode": "File"},
        "OutputDataConfig": {"S3OutputPath": "./out"},
        "ResourceConfig": resources or {"InstancePreferences": [LARGE, SMALL]},
        "Local": {"Faults": list(faults)},
    }
    return read_job(Document(data, name="job.yaml", directory="/nowhere"), strict=False)


@pytest.mark.parametrize(
    ("faults", "types", "runs"),
    [
        ([], ["ml.c5.xlarge"], True),
        ([NO_SMALL], ["ml.c5.xlarge"], True),
        ([NO_LARGE], ["ml.m5.large"] * 2, True),
        ([NO_LARGE, NO_SMALL], ["ml.c5.xlarge"], False),
        ([NONE], ["ml.c5.xlarge"], False),
    ],
)
def test_the_first_that_has_capacity(faults: list[dict[str, Any]], types: list[str], *, runs: bool) -> None:
    read = job(*faults)
    assert read.request.ResourceConfig is not None
    assert [host.instance_type for host in hosts_of(read.request.ResourceConfig)] == types
    assert has_capacity(read) is runs
    assert len(faults_to_come(read)) == (0 if runs else len(faults))
    assert read.raw["ResourceConfig"] == {"InstancePreferences": [LARGE, SMALL]}


def test_one_count_for_all() -> None:
    resources = job(InstanceCount=3, InstancePreferences=[{"InstanceType": "ml.m5.large"}]).request.ResourceConfig
    assert resources is not None
    assert len(hosts_of(resources)) == 3


def test_a_type_of_a_job_without_preferences() -> None:
    assert not has_capacity(job(NO_SMALL, InstanceType="ml.m5.large", InstanceCount=1))
