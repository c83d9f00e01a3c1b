"""Values that generated requests have found: none of them may be an unexpected error."""

from typing import Any
from xml.etree import ElementTree as ET

import pytest

from smlocal.endpoint.call import ServiceError
from smlocal.endpoint.protocol import query
from smlocal.endpoint.protocol.models import check_parameters, operation_model


def input_of(service: str, operation: str) -> Any:
    model = operation_model(service, operation)
    assert model is not None
    return model.input_shape


@pytest.mark.parametrize(
    "moment", [10**400, -(10**400), float("nan"), float("inf"), "0001-01-01T00:00:00+99:99", "12026-01-01", True, {}]
)
def test_no_time(moment: Any) -> None:
    with pytest.raises(ServiceError, match="SerializationException: creationTimeAfter is not of the type timestamp"):
        check_parameters(input_of("sagemaker", "ListTrainingJobs"), {"CreationTimeAfter": moment})


def test_the_first_time_of_all() -> None:
    checked = check_parameters(input_of("sagemaker", "ListTrainingJobs"), {"CreationTimeAfter": "0001-01-01"})
    assert checked == {"CreationTimeAfter": -62135596800.0}


def test_a_number_too_large_for_a_double() -> None:
    value = {"Namespace": "n", "MetricData": [{"MetricName": "m", "Value": 10**400}]}
    with pytest.raises(ServiceError, match="is not of the type double"):
        check_parameters(input_of("cloudwatch", "PutMetricData"), value)


def test_keys_of_maps_are_checked() -> None:
    given = {"TrainingJobName": "a", "ProfilerConfig": {"ProfilingParameters": {"": "x"}}}
    with pytest.raises(ServiceError) as refused:
        check_parameters(input_of("sagemaker", "UpdateTrainingJob"), given)
    assert refused.value.message == (
        "1 validation error detected: Value '{=x}' at 'profilerConfig.profilingParameters' failed to satisfy "
        "constraint: Map keys must satisfy constraint: [Member must have length less than or equal to 256, "
        "Member must have length greater than or equal to 1, Member must satisfy regular expression pattern: .*]"
    )


@pytest.mark.parametrize("index", ["9" * 5000, "-1", "x", "\u0663", ""])
def test_no_index_of_a_list(index: str) -> None:
    with pytest.raises(ServiceError, match="MalformedInput"):
        query.parameters(input_of("iam", "SimulatePrincipalPolicy"), {f"ActionNames.member.{index}": "a:b"})


def test_characters_that_xml_does_not_have() -> None:
    answer = query.encode_error(ServiceError("Code", "a\x00b\ud800c\uffffd<é😀\n"))
    assert ET.fromstring(answer).findtext("Error/Message") == "a\ufffdb\ufffdc\ufffdd<é😀\n"
