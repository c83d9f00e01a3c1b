"""Transform jobs that clients make, without a server."""

from dataclasses import replace
from typing import Any

import pytest
from tests.unit.endpoint.conftest import Ask

from smlocal.endpoint.call import AwsCall, ServiceError
from smlocal.endpoint.sagemaker.other_jobs import TRANSFORM
from smlocal.endpoint.serving import Serving
from smlocal.jobs.submission.scheduler import InstanceLimit

REQUEST: dict[str, Any] = {
    "TransformJobName": "transform-limited",
    "ModelName": "transform-model",
    "TransformInput": {"DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://elsewhere/in"}}},
    "TransformOutput": {"S3OutputPath": "s3://elsewhere/out"},
    "TransformResources": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
}


@pytest.mark.parametrize("refuse", [True, False])
def test_a_job_above_the_limit_is_refused_or_waits(serving: Serving, ask: Ask, refuse: bool) -> None:
    """One instance is in use by a job that waits."""
    role = "arn:aws:iam::123456789012:role/T"
    ask(
        "sagemaker",
        "CreateModel",
        ModelName="transform-model",
        ExecutionRoleArn=role,
        PrimaryContainer={"Image": "an-image"},
    )
    limited = replace(serving, options=replace(serving.options, limit=InstanceLimit(instances=1, refuse=refuse)))

    def create(name: str) -> None:
        asked = {**REQUEST, "TransformJobName": name}
        call = AwsCall(service="", operation="", parameters=asked, region="eu-west-1", access_key=None)
        TRANSFORM.create(limited, call)

    create("transform-first")
    if refuse:
        with pytest.raises(ServiceError) as raised:
            create("transform-second")
        assert raised.value.code == "ResourceLimitExceeded"
        assert "'ml.m5.large for " in raised.value.message
        assert "is 1 Instances, with current utilization of 1 Instances" in raised.value.message
        assert serving.store.names() == ["transform-first"]
    else:
        create("transform-second")
        assert sorted(serving.store.names()) == ["transform-first", "transform-second"]
