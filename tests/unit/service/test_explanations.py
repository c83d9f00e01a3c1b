"""Possible explanations of another end, and the options that rule them out."""

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from smlocal.service.described_job import described_job
from smlocal.service.job_end import JobEnd, LogEnd, end_of
from smlocal.service.reproduction import Explanation, explanations

MEMORY = "exit code 137 mostly means that memory ran out"
HERE = JobEnd(
    name="here",
    status="Failed",
    secondary="Failed",
    reason="AlgorithmError: , exit code: 1",
    exit_code=1,
    host="algo-1",
    phases=(),
    metrics={},
    log=LogEnd(lines={"algo-1": ["KeyError"]}),
)


def explained(answer: dict[str, Any], local: dict[str, Any], here: JobEnd = HERE, **members: Any) -> list[Explanation]:
    """The explanations for a run whose request has other `members`."""
    job = described_job(answer, name="job.json")
    run = {**deepcopy(job.request), **members, "TrainingJobName": "other", "Local": local}
    return explanations(job, run, end_of(answer), here)


def said(found: list[Explanation]) -> str:
    return "\n".join(f"{each.text}: {each.option}{each.without}" for each in found)


def test_nothing_explains_a_run_of_the_same_request(answer: dict[str, Any]) -> None:
    assert explained(answer, {"Region": "eu-west-1"}) == []


@pytest.mark.parametrize(
    "reason", ["AlgorithmError: , exit code: 137", "ClientError: Please use an instance type with more memory, or …"]
)
def test_memory_that_is_not_enforced(answer: dict[str, Any], reason: str) -> None:
    answer["FailureReason"] = reason
    (found,) = explained(answer, {})
    assert found.text == f"{MEMORY}, and the memory of ml.m5.large (8 GiB) is not enforced here"
    assert found.words == ("--enforce-limits",)
    assert explained(answer, {"EnforceInstanceLimits": True}) == []
    assert explained(answer, {"Memory": "1g"}) == []
    assert explained(answer, {}, replace(HERE, exit_code=137)) == []
    assert len(explained(answer, {}, replace(HERE, status="Stopped", exit_code=137))) == 1


def test_memory_that_ran_out_here_only(answer: dict[str, Any]) -> None:
    (found,) = explained(answer, {"Memory": "64m"}, replace(HERE, exit_code=137))
    assert found.text == f"{MEMORY}: here the limit of 64m was too little"


def test_another_image(answer: dict[str, Any]) -> None:
    specification = described_job(answer, name="job.json").request["AlgorithmSpecification"]
    (found,) = explained(answer, {}, AlgorithmSpecification={**specification, "TrainingImage": "held:1"})
    assert found.text.endswith("held:1 there, held:1 here")
    assert found.text.startswith("the image is another one: 123456789012.dkr.ecr")


def test_no_code_or_other_code(answer: dict[str, Any]) -> None:
    answer["HyperParameters"]["sagemaker_submit_directory"] = '"s3://bucket/code.tar.gz"'
    (found,) = explained(answer, {})
    assert (found.option, found.words) == ("--code DIR", ("--code", "./code"))
    assert "no --code" in found.text
    (found,) = explained(answer, {"Code": "/src"})
    assert found.text == "/opt/ml/code comes from /src, not from s3://bucket/code.tar.gz"
    assert explained(answer, {"Credentials": "inherit"}) == []


def test_data_of_this_machine_and_a_sample(answer: dict[str, Any]) -> None:
    text = said(explained(answer, {"Sources": {"s3://bucket": "/rows"}, "Sample": 3}))
    assert "the data of train is from folders of this machine" in text
    assert "a sample of the data (3 of each): --sample" in text
    channels = deepcopy(answer["InputDataConfig"])
    channels[0]["DataSource"]["S3DataSource"]["S3Uri"] = "/rows"
    (found,) = explained(answer, {}, InputDataConfig=channels)
    assert "the data of train is from folders" in found.text


def test_members_that_options_have_changed(answer: dict[str, Any]) -> None:
    (found,) = explained(answer, {}, HyperParameters={"epochs": "4", "note": ""}, Environment={"A": "1"})
    assert found.text == "the run has other values than the job: HyperParameters.epochs, Environment"


def test_devices_credentials_and_the_network(answer: dict[str, Any]) -> None:
    answer["ResourceConfig"]["InstanceType"] = "ml.p3.2xlarge"
    answer["VpcConfig"] = {"SecurityGroupIds": ["sg-1234"], "Subnets": ["subnet-1234"]}
    log = LogEnd(lines={"algo-1": ["botocore.exceptions.NoCredentialsError: Unable to locate credentials"]})
    text = said(explained(answer, {"AllowCpu": True}, replace(HERE, log=log)))
    assert "ml.p3.2xlarge has 1 GPU, and the run had none" in text
    assert "no credentials: --credentials inherit" in text
    assert "not in the VPC" in text


def test_all_that_a_run_without_a_container_may_have_lacked(answer: dict[str, Any]) -> None:
    found = explained(answer, {}, replace(HERE, exit_code=None))
    assert [each.option for each in found] == ["--image NAME --pull never", "--source s3://bucket/data=DIR"]
