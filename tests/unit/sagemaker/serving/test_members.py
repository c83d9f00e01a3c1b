"""What the three requests of an endpoint may not have."""

from typing import Any

import pytest

from smlocal.endpoint.aws_calls import find
from smlocal.endpoint.call import ServiceError
from smlocal.sagemaker.serving.members import refused_members


@pytest.mark.parametrize(
    ("request_", "name"),
    [
        ({"PrimaryContainer": {"Mode": "MultiModel"}}, "PrimaryContainer.Mode"),
        ({"Models": [{"Containers": [{"Mode": "MultiModel"}]}]}, "Containers[].Mode"),
    ],
)
def test_values_are_refused_too(request_: dict[str, Any], name: str) -> None:
    assert [found for found, _ in refused_members(request_)] == [name]


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ({"PrimaryContainer": {"Mode": "MultiModel"}}, "Multi-model endpoints are not run here"),
        ({"PrimaryContainer": {"MultiModelConfig": {}}}, "Multi-model endpoints are not run here"),
        ({"AsyncInferenceConfig": {}}, "Asynchronous inference is not run here"),
        ({"ProductionVariants": [{"ServerlessConfig": {}}]}, "Serverless inference is not run here"),
        ({"ProductionVariants": [{"ManagedInstanceScaling": {}}]}, "Auto scaling is not available here"),
        ({"ShadowProductionVariants": []}, "Shadow variants are not run here"),
    ],
)
def test_what_is_not_done_at_all_is_named(request_: dict[str, Any], said: str) -> None:
    ((_, violation),) = refused_members(request_)
    assert said in violation.text


@pytest.mark.parametrize(
    ("service", "operation"),
    [
        ("application-autoscaling", "RegisterScalableTarget"),
        ("sagemaker", "CreateInferenceComponent"),
        ("sagemaker", "CreateInferenceExperiment"),
    ],
)
def test_so_are_operations_on_endpoints_that_are_not_emulated(service: str, operation: str) -> None:
    with pytest.raises(ServiceError) as caught:
        find(service, operation)
    assert caught.value.code == "UnknownOperationException"
    assert caught.value.message.startswith(f"smlocal does not emulate {operation}.")


def test_what_is_not_refused_is_silent() -> None:
    assert refused_members({"PrimaryContainer": {"Image": "a", "Mode": "SingleModel"}, "Tags": [{"Key": "a"}]}) == []
