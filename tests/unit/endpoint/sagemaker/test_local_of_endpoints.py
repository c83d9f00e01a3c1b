"""The block `Local` in requests about models and endpoints: as in those of training jobs."""

from dataclasses import replace
from typing import Any

import pytest
from tests.unit.endpoint.conftest import Ask

from smlocal.endpoint.call import AwsCall, ServiceError
from smlocal.endpoint.sagemaker.endpoints import create_endpoint
from smlocal.endpoint.serving import Serving
from smlocal.jobs.documents import JOB

ROLE = "arn:aws:iam::123456789012:role/T"
MODEL: dict[str, Any] = {"ModelName": "m", "ExecutionRoleArn": ROLE, "PrimaryContainer": {"Image": "an-image"}}
VARIANT = {"VariantName": "AllTraffic", "ModelName": "m", "InstanceType": "ml.m5.large", "InitialInstanceCount": 1}
CONFIG: dict[str, Any] = {"EndpointConfigName": "c", "ProductionVariants": [VARIANT]}
ENDPOINT = {"EndpointName": "e", "EndpointConfigName": "c"}
DATA = {"DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://elsewhere/in"}}}
CLUSTER = {"InstanceCount": 1, "InstanceType": "ml.m5.large", "VolumeSizeInGB": 1}
CALLS: dict[str, dict[str, Any]] = {
    "CreateModel": MODEL,
    "CreateEndpointConfig": CONFIG,
    "CreateEndpoint": ENDPOINT,
    "CreateTransformJob": {
        "TransformJobName": "t",
        "ModelName": "m",
        "TransformInput": DATA,
        "TransformOutput": {"S3OutputPath": "s3://elsewhere/out"},
        "TransformResources": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
    },
    "CreateProcessingJob": {
        "ProcessingJobName": "p",
        "RoleArn": ROLE,
        "AppSpecification": {"ImageUri": "an-image"},
        "ProcessingResources": {"ClusterConfig": CLUSTER},
    },
}


@pytest.mark.parametrize("operation", list(CALLS))
@pytest.mark.parametrize(
    ("local", "said"),
    [
        ({"Credentials": "share"}, "does not let clients set Local.Credentials"),
        ({"Sources": {"s3://elsewhere": "/etc"}}, "/etc"),
        ({"Region": "nowhere", "Nonsense": 1}, "Local.Nonsense"),
        ("text", "Local"),
    ],
)
def test_what_clients_may_not_set_is_refused(ask: Ask, operation: str, local: object, said: str) -> None:
    if operation != "CreateModel":
        ask("sagemaker", "CreateModel", **MODEL)
    if operation == "CreateEndpoint":
        ask("sagemaker", "CreateEndpointConfig", **CONFIG)
    with pytest.raises(ServiceError) as raised:
        ask("sagemaker", operation, **CALLS[operation], Local=local)
    assert raised.value.code == "ValidationException"
    assert said in raised.value.message


def test_the_job_of_an_endpoint_has_the_settings_of_all_its_parts(ask: Ask, serving: Serving) -> None:
    ask("sagemaker", "CreateModel", **MODEL, Local={"StopGraceSeconds": 3, "Cache": False})
    ask("sagemaker", "CreateEndpointConfig", **CONFIG, Local={"StopGraceSeconds": 4})
    assert "Local" not in ask("sagemaker", "DescribeModel", ModelName="m")
    assert "Local" not in ask("sagemaker", "DescribeEndpointConfig", EndpointConfigName="c")
    ask("sagemaker", "CreateEndpoint", **ENDPOINT, Local={"Region": "us-west-2"})
    local = serving.store.document("e", JOB)["Data"]["Local"]
    assert (local["StopGraceSeconds"], local["Cache"]) == (4, False)


def test_a_server_with_more_rights_takes_more(ask: Ask, serving: Serving) -> None:
    ask("sagemaker", "CreateModel", **MODEL)
    ask("sagemaker", "CreateEndpointConfig", **CONFIG)
    rights = replace(serving.options.rights, local_members=True)
    trusting = replace(serving, options=replace(serving.options, rights=rights))
    asked = {**ENDPOINT, "Local": {"Serving": {"PingSeconds": 9}}}
    create_endpoint(trusting, AwsCall(service="", operation="", parameters=asked, region="eu-west-1", access_key=None))
    assert serving.store.document("e", JOB)["Data"]["Local"]["Serving"] == {"PingSeconds": 9}


@pytest.mark.parametrize("settings", ["x", []])
def test_a_server_with_a_key_refuses_settings_of_serving_that_are_none(
    ask: Ask, serving: Serving, settings: object
) -> None:
    ask("sagemaker", "CreateModel", **MODEL)
    ask("sagemaker", "CreateEndpointConfig", **CONFIG)
    rights = replace(serving.options.rights, local_members=True)
    trusting = replace(serving, options=replace(serving.options, rights=rights, with_key=True))
    asked = {**ENDPOINT, "Local": {"Serving": settings}}
    call = AwsCall(service="", operation="", parameters=asked, region="eu-west-1", access_key=None)
    with pytest.raises(ServiceError) as raised:
        create_endpoint(trusting, call)
    assert (raised.value.status, raised.value.code) == (400, "ValidationException")
    assert "Local.Serving" in raised.value.message
