"""Tuning jobs that clients make, without a server."""

from dataclasses import replace
from typing import Any

import pytest
from tests.unit.endpoint.conftest import Ask
from tests.unit.sagemaker.tuning.test_tuning_file import CONFIG, DEFINITION, REQUEST

from smlocal.endpoint.call import AwsCall, ServiceError
from smlocal.endpoint.sagemaker.other_jobs import TUNING
from smlocal.endpoint.serving import Serving
from smlocal.jobs.submission.scheduler import InstanceLimit

SERVICE = {
    **DEFINITION,
    "RoleArn": "arn:aws:iam::123456789012:role/T",
    "OutputDataConfig": {"S3OutputPath": "s3://b/o"},
}


def request(**definition: Any) -> dict[str, Any]:
    return {**REQUEST, "TrainingJobDefinition": {**SERVICE, **definition}}


def refused(ask: Ask, given: dict[str, Any]) -> tuple[str, str]:
    with pytest.raises(ServiceError) as raised:
        ask("sagemaker", "CreateHyperParameterTuningJob", **given)
    return raised.value.code, raised.value.message


def test_a_training_job_above_the_limit_of_the_server_is_refused(serving: Serving) -> None:
    limited = replace(serving, options=replace(serving.options, limit=InstanceLimit(instances=2)))
    large = request(ResourceConfig={"InstanceType": "ml.m5.large", "InstanceCount": 3, "VolumeSizeInGB": 1})
    call = AwsCall(service="", operation="", parameters=large, region="eu-west-1", access_key=None)
    with pytest.raises(ServiceError) as raised:
        TUNING.create(limited, call)
    assert (raised.value.code, "is 2 Instances" in raised.value.message) == ("ResourceLimitExceeded", True)
    assert serving.store.names() == []


def test_two_of_one_name(serving: Serving, ask: Ask) -> None:
    arn = ask("sagemaker", "CreateHyperParameterTuningJob", **request())["HyperParameterTuningJobArn"]
    assert arn == "arn:aws:sagemaker:eu-west-1:123456789012:hyper-parameter-tuning-job/held"
    code, message = refused(ask, request())
    assert (code, "a job with this name already exists (held)" in message) == ("ResourceInUse", True)
    assert serving.store.names() == ["held"]


def test_a_name_of_33_characters(serving: Serving, ask: Ask) -> None:
    code, message = refused(ask, {**request(), "HyperParameterTuningJobName": "x" * 33})
    assert (code, "length less than or equal to 32" in message) == ("ValidationException", True)
    assert serving.store.names() == []


def test_a_warm_start_from_a_job_that_is_gone(serving: Serving, ask: Ask) -> None:
    start = {
        "ParentHyperParameterTuningJobs": [{"HyperParameterTuningJobName": "g"}],
        "WarmStartType": "TransferLearning",
    }
    code, message = refused(ask, {**request(), "WarmStartConfig": start})
    assert (code, "there is no tuning job 'g' here" in message) == ("ValidationException", True)
    assert serving.store.names() == []


def test_more_combinations_than_a_grid_can_have(ask: Ask) -> None:
    values = [str(number) for number in range(10)]
    ranges = [{"Name": f"p{number}", "Values": values} for number in range(12)]
    limits = {"MaxParallelTrainingJobs": 1}
    config = {**REQUEST[CONFIG], "Strategy": "Grid", "ResourceLimits": limits}
    config["ParameterRanges"] = {"CategoricalParameterRanges": ranges}
    code, message = refused(ask, {**request(), CONFIG: config})
    assert (code, "the grid has 1,000,000,000,000 points" in message) == ("ValidationException", True)
