"""Names that differ only in case have the same ARN, by which tags are found."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.unit.endpoint.conftest import Ask
from tests.unit.report.conftest import StoredJob

from smlocal.endpoint.call import ServiceError
from smlocal.endpoint.serving import Serving

ROLE = "arn:aws:iam::123456789012:role/T"
VARIANT = {"VariantName": "AllTraffic", "ModelName": "Case", "InstanceType": "ml.m5.large", "InitialInstanceCount": 1}


def test_a_resource_is_refused_if_its_arn_is_in_use(
    ask: Ask, serving: Serving, store_job: Callable[..., StoredJob]
) -> None:
    def refused(operation: str, **parameters: Any) -> str:
        with pytest.raises(ServiceError) as raised:
            ask("sagemaker", operation, **parameters)
        assert raised.value.code == "ValidationException"
        return raised.value.message

    model = {"ExecutionRoleArn": ROLE, "PrimaryContainer": {"Image": "an-image"}}
    arn = ask("sagemaker", "CreateModel", ModelName="Case", **model)["ModelArn"]
    assert refused("CreateModel", ModelName="case", **model) == f'Cannot create already existing model "{arn}".'
    arn = ask("sagemaker", "CreateEndpointConfig", EndpointConfigName="Case", ProductionVariants=[VARIANT])[
        "EndpointConfigArn"
    ]
    message = refused("CreateEndpointConfig", EndpointConfigName="case", ProductionVariants=[VARIANT])
    assert message == f'Cannot create already existing endpoint configuration "{arn}".'

    arn = ask("sagemaker", "CreateEndpoint", EndpointName="Case-Served", EndpointConfigName="Case")["EndpointArn"]
    message = refused("CreateEndpoint", EndpointName="case-served", EndpointConfigName="Case")
    assert message == f'Cannot create already existing endpoint "{arn}".'
    store_job("By-Hand", platform="sagemaker_hosting")
    assert "already existing endpoint" in refused("CreateEndpoint", EndpointName="by-hand", EndpointConfigName="Case")
    assert sorted(serving.store.names()) == ["By-Hand", "Case-Served"]


def test_what_is_named_as_its_arn_names_it_is_found(ask: Ask, store_job: Callable[..., StoredJob]) -> None:
    """Programs take the names of what the steps of a pipeline make from ARNs, which have them in lower case."""
    store_job("pipelines-a-Train-Xy")
    found = ask("sagemaker", "DescribeTrainingJob", TrainingJobName="pipelines-a-train-xy")
    assert found["TrainingJobName"] == "pipelines-a-Train-Xy"
    with pytest.raises(ServiceError, match="Requested resource not found"):
        ask("sagemaker", "DescribeTrainingJob", TrainingJobName="pipelines-a-train-x")
    model = {"ExecutionRoleArn": ROLE, "PrimaryContainer": {"Image": "an-image"}}
    ask("sagemaker", "CreateModel", ModelName="Case", **model)
    assert ask("sagemaker", "DescribeModel", ModelName="case")["ModelName"] == "Case"
    ask("sagemaker", "DeleteModel", ModelName="case")
    with pytest.raises(ServiceError, match="Could not find model"):
        ask("sagemaker", "DescribeModel", ModelName="case")
