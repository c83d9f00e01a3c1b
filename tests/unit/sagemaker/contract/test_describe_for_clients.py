"""The answer as clients read it: by botocore's own parser, and then by `[]`."""

import json
from typing import Any

import pytest
from botocore.loaders import Loader
from botocore.model import ServiceModel, Shape
from botocore.parsers import create_parser
from botocore.validate import ParamValidator
from tests.unit.sagemaker.contract.outcome.test_describe import JOB

from smlocal.sagemaker.contract.outcome.describe import describe

ROLE = "arn:aws:iam::123456789012:role/trainer"
SDK: dict[str, Any] = {
    "TrainingJobName": "Task1-ABC",
    "AlgorithmSpecification": {"TrainingImage": "image", "TrainingInputMode": "File"},
    "OutputDataConfig": {"S3OutputPath": "s3://bucket/"},
    "StoppingCondition": {"MaxRuntimeInSeconds": 86400},
    "ResourceConfig": {"InstanceCount": 1, "InstanceType": "ml.m5.large", "VolumeSizeInGB": 30},
    "RoleArn": ROLE,
    "DebugHookConfig": {"S3OutputPath": "s3://bucket/", "CollectionConfigurations": []},
    "ProfilerConfig": {"S3OutputPath": "s3://bucket/", "DisableProfiler": False},
}
"""What `Estimator("image", role, instance_count=1, instance_type="ml.m5.large").fit()` of the SDK's version 2 sends."""
SHORT = {
    **{name: SDK[name] for name in ("TrainingJobName", "AlgorithmSpecification", "OutputDataConfig", "RoleArn")},
    "ResourceConfig": {"InstanceCount": 1, "InstanceType": "ml.m5.large"},
}
GROUPS = {
    **SHORT,
    "ResourceConfig": {
        "InstanceGroups": [{"InstanceGroupName": "a", "InstanceType": "ml.m5.large", "InstanceCount": 2}],
        "VolumeSizeInGB": 5,
    },
}


@pytest.fixture(scope="module")
def output_shape() -> Shape:
    model = ServiceModel(Loader().load_service_model("sagemaker", "service-2"))
    shape = model.operation_model("DescribeTrainingJob").output_shape
    assert shape is not None
    return shape


@pytest.mark.parametrize("request_", [SDK, SHORT, GROUPS], ids=["sdk", "short", "groups"])
def test_what_clients_take_by_its_name_is_there(request_: dict[str, Any], output_shape: Shape) -> None:
    answer = describe(request_, JOB)
    body = json.dumps(answer).encode()
    parsed = create_parser("json").parse({"status_code": 200, "headers": {}, "body": body}, output_shape)
    del parsed["ResponseMetadata"]
    # The service's own model wants a channel; the service answers an empty list without any.
    assert parsed["InputDataConfig"] == []
    said = {name: value for name, value in parsed.items() if name != "InputDataConfig"}
    assert ParamValidator().validate(said, output_shape).generate_report() == ""
    assert set(parsed) == set(answer)

    # Estimator.attach, Session.wait_for_job and logs_for_job, TrainingJobAnalytics.
    resources, output = parsed["ResourceConfig"], parsed["OutputDataConfig"]
    if "InstanceGroups" in resources:
        assert resources["InstanceGroups"][0]["InstanceCount"] == 2
    else:
        assert (resources["InstanceCount"], resources["InstanceType"]) == (1, "ml.m5.large")
    assert resources["VolumeSizeInGB"] == request_["ResourceConfig"].get("VolumeSizeInGB", 0)
    assert output == {"KmsKeyId": "", "S3OutputPath": "s3://bucket/", "CompressionType": "GZIP"}
    assert parsed["StoppingCondition"]["MaxRuntimeInSeconds"] == 86400
    assert parsed["AlgorithmSpecification"]["TrainingInputMode"] == "File"
    assert parsed["RoleArn"] == ROLE
    assert [(step["Status"], step["StatusMessage"]) for step in parsed["SecondaryStatusTransitions"]]
    assert parsed["ModelArtifacts"]["S3ModelArtifacts"]
    assert parsed["TrainingEndTime"] > parsed["TrainingStartTime"]
    assert parsed["LastModifiedTime"]
    assert [parsed[f"TrainingJob{name}"] for name in ("Name", "Arn", "Status")] == [JOB.name, JOB.arn, "Completed"]


def test_a_key_that_was_given_is_echoed() -> None:
    asked = {**SHORT, "OutputDataConfig": {"S3OutputPath": "s3://bucket/", "KmsKeyId": "alias/mine"}}
    assert describe(asked, JOB)["OutputDataConfig"]["KmsKeyId"] == "alias/mine"
    assert asked["ResourceConfig"] == {"InstanceCount": 1, "InstanceType": "ml.m5.large"}, "the request is left alone"
