"""The requests are such as the service takes, once they are filled in."""

import json

import pytest

from smlocal.jobfile.reading import load_document
from smlocal.sagemaker.jobfile.job_file import read_job
from smlocal.service.conformance.cases import DATA, ConformanceCase, request

ROLE = "arn:aws:iam::123456789012:role/mine"
IMAGE = "123456789012.dkr.ecr.eu-west-1.amazonaws.com/conformance:1"


@pytest.mark.parametrize("case", ConformanceCase)
def test_the_service_takes_it(case: ConformanceCase) -> None:
    asked = request(case, name="conformance-1", image=IMAGE, role=ROLE, prefix="s3://mine/some/where")
    job = read_job(load_document(json.dumps(asked), name="request.json", directory="/"), strict=True)
    assert job.request.HyperParameters is not None
    assert job.request.HyperParameters["conformance_case"] == case


def test_each_channel_has_its_data_and_each_data_its_channel() -> None:
    asked = request(ConformanceCase.EVERYTHING, name="conformance-1", prefix="s3://mine")
    prefixes = [each["DataSource"]["S3DataSource"]["S3Uri"] for each in asked["InputDataConfig"]]
    assert {name.split("/")[0] for name in DATA} == {uri.split("/")[-2] for uri in prefixes}
    modes = {
        each.get("InputMode", asked["AlgorithmSpecification"]["TrainingInputMode"]) for each in asked["InputDataConfig"]
    }
    assert modes == {"File", "FastFile", "Pipe"}
