"""Usage in CloudWatch, as figures of an instance."""

from typing import Any

import pytest
from tests.unit.service.aws_answers import aws_answering

from smlocal.service.compare.find import service_usage
from smlocal.service.service import Service

pytestmark = pytest.mark.usefixtures("aws_user")


def used(answer: dict[str, Any], *, gone: bool = False) -> tuple[dict[str, dict[str, float]], list[dict[str, Any]]]:
    """The findings, and the questions to CloudWatch."""
    asked: list[dict[str, Any]] = []
    values = {"CPUUtilization": [40.0, 150.0], "MemoryUtilization": [10.0], "GPUUtilization": [90.4]}

    def data(request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        asked.append(request)
        results = [
            {"Id": each["Id"], "Values": [] if gone else values.get(each["MetricStat"]["Metric"]["MetricName"], [])}
            for each in request["MetricDataQueries"]
        ]
        return 200, {"MetricDataResults": results}

    with aws_answering({"GetMetricData": data}) as address:
        return service_usage(Service(endpoint_url=address), answer), asked


@pytest.fixture
def trained(answer: dict[str, Any]) -> dict[str, Any]:
    return {
        **answer,
        "ResourceConfig": {"InstanceType": "ml.g4dn.xlarge", "InstanceCount": 2},
        "TrainingStartTime": "2026-11-20T10:00:00+00:00",
        "TrainingEndTime": "2026-11-20T12:30:00+00:00",
    }


def test_the_highest_values_of_each_host(trained: dict[str, Any]) -> None:
    found, asked = used(trained)
    each = {"MemoryPeakMiB": 1638, "CpuPeak": 1.5, "GpuPeakPercent": 90}
    assert found == {"algo-1": each, "algo-2": each}
    queries = asked[0]["MetricDataQueries"]
    assert {each["MetricStat"]["Period"] for each in queries} == {3 * 3600}
    hosts = {each["MetricStat"]["Metric"]["Dimensions"][0]["Value"] for each in queries}
    assert hosts == {"held-tree/algo-1", "held-tree/algo-2"}


def test_nothing_is_known_of_a_short_job(trained: dict[str, Any]) -> None:
    assert used(trained, gone=True)[0] == {}


@pytest.mark.parametrize(
    "change",
    [
        {"TrainingStartTime": None},
        {"ResourceConfig": {"InstanceType": "local", "InstanceCount": 1}},
        {"ResourceConfig": {"InstanceType": "ml.new9.large", "InstanceCount": 1}},
        {"ResourceConfig": {"InstanceGroups": []}},
    ],
)
def test_what_cannot_be_computed_is_not_asked_for(trained: dict[str, Any], change: dict[str, Any]) -> None:
    assert used({**trained, **change}) == ({}, [])
