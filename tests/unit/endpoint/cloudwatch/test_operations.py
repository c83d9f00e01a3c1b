from collections.abc import Callable
from typing import Any

import pytest
from tests.unit.endpoint.conftest import Ask
from tests.unit.endpoint.sagemaker.test_tuning_jobs import request as tuning_request
from tests.unit.report.conftest import BEGAN, StoredJob

from smlocal.endpoint.call import ServiceError
from smlocal.endpoint.serving import Serving
from smlocal.terms.usage import Point

MINUTE = BEGAN - BEGAN % 60
"""The whole minute before the jobs begin."""
NAMESPACE = "/aws/sagemaker/TrainingJobs"
NAMES = ("train:loss", "accuracy")


@pytest.fixture
def measured(store_job: Callable[..., StoredJob]) -> str:
    """A job with two metrics, and usage."""
    definitions = [{"Name": name, "Regex": f"{name}=(.*)"} for name in NAMES]
    job = store_job("measured", request={"AlgorithmSpecification": {"MetricDefinitions": definitions}})
    first = MINUTE + 60 - BEGAN
    job.values(
        [(0, 0, first, 4.0), (0, 0, first + 30, 2.0), (1, 0, first, 0.5), (0, 0, first + 60, 1.0), (0, 0, None, 9)]
    )
    use(job)
    return job.name


def use(job: StoredJob) -> None:
    nothing: dict[str, Any] = dict.fromkeys(
        ("disk_read", "disk_written", "network_received", "network_sent", "gpu_percent", "gpu_memory")
    )
    used = {"cpu_cores": 2.0, "memory": 2 << 30, "memory_with_cache": 2 << 30}
    moments = [(10.5, 15.0), (20.5, 20.0)]
    job.used("algo-1", [Point(at=BEGAN + after, cpu_seconds=cpu, **(nothing | used)) for after, cpu in moments])


def asked(name: str, dimension: str, value: str, **more: Any) -> dict[str, Any]:
    return {
        "Namespace": NAMESPACE,
        "MetricName": name,
        "Dimensions": [{"Name": dimension, "Value": value}],
        "StartTime": MINUTE,
        "EndTime": MINUTE + 600,
        "Period": 60,
        "Statistics": ["Average"],
        **more,
    }


def test_statistics_of_a_metric_of_the_log(ask: Ask, measured: str) -> None:
    statistics = ["SampleCount", "Average", "Sum", "Minimum", "Maximum"]
    answer = ask(
        "cloudwatch",
        "GetMetricStatistics",
        **asked("train:loss", "TrainingJobName", measured, Statistics=statistics),
    )
    rest = {"SampleCount": 2.0, "Average": 3.0, "Sum": 6.0, "Minimum": 2.0, "Maximum": 4.0}
    assert answer == {
        "Label": "train:loss",
        "Datapoints": [
            {"Timestamp": MINUTE + 60, **rest, "Unit": "None"},
            {"Timestamp": MINUTE + 120, **dict.fromkeys(rest, 1.0), "Unit": "None"},
        ],
    }


@pytest.mark.parametrize(("name", "values"), [("CPUUtilization", [150.0, 50.0]), ("MemoryUtilization", [25.0, 25.0])])
def test_statistics_of_a_host(ask: Ask, measured: str, name: str, values: list[float]) -> None:
    answer = ask("cloudwatch", "GetMetricStatistics", **asked(name, "Host", f"{measured}/algo-1", Period=10))
    assert [point["Average"] for point in answer["Datapoints"]] == values
    assert {point["Unit"] for point in answer["Datapoints"]} == {"Percent"}


@pytest.mark.parametrize(
    ("name", "dimension", "value", "more"),
    [
        ("other", "TrainingJobName", "measured", {}),
        ("accuracy", "TrainingJobName", "absent", {}),
        ("accuracy", "Host", "measured/algo-1", {}),
        ("GPUUtilization", "Host", "measured/algo-1", {}),
        ("CPUUtilization", "Host", "measured/algo-2", {}),
        ("CPUUtilization", "Host", "absent/algo-1", {}),
        ("accuracy", "TrainingJobName", "measured", {"Namespace": "AWS/EC2"}),
        ("accuracy", "TrainingJobName", "measured", {"Dimensions": []}),
        ("accuracy", "TrainingJobName", "measured", {"Unit": "Percent"}),
        ("accuracy", "TrainingJobName", "measured", {"EndTime": MINUTE + 60}),
    ],
)
@pytest.mark.usefixtures("measured")
def test_what_does_not_exist_has_no_points(
    ask: Ask, name: str, dimension: str, value: str, more: dict[str, Any]
) -> None:
    assert ask("cloudwatch", "GetMetricStatistics", **asked(name, dimension, value, **more))["Datapoints"] == []


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"EndTime": MINUTE + 90_000}, "InvalidParameterCombination: You have requested up to 1500 datapoints, which "),
        ({"EndTime": 1e300}, "InvalidParameterCombination"),
        ({"EndTime": MINUTE}, "The parameter StartTime must be less than the parameter EndTime"),
        ({"Period": 61}, "The parameter Period must be"),
        ({"Statistics": []}, "member must have length greater than or equal to 1"),
        ({"ExtendedStatistics": ["p99"]}, "smlocal does not emulate extended statistics"),
    ],
)
def test_what_the_service_refuses_is_refused(ask: Ask, measured: str, more: dict[str, Any], message: str) -> None:
    with pytest.raises(ServiceError, match=f"(?i){message}"):
        ask("cloudwatch", "GetMetricStatistics", **asked("accuracy", "TrainingJobName", measured, **more))


@pytest.mark.parametrize(
    ("kind", "namespace"),
    [
        ("sagemaker_processing", "/aws/sagemaker/ProcessingJobs"),
        ("sagemaker_transform", "/aws/sagemaker/TransformJobs"),
        ("sagemaker_hosting", None),
        ("ai_platform", None),
    ],
)
@pytest.mark.usefixtures("measured")
def test_the_usage_of_a_job_of_another_kind_is_in_its_own_namespace(
    ask: Ask, store_job: Callable[..., StoredJob], kind: str, namespace: str | None
) -> None:
    use(store_job("other-kind", platform=kind))
    for each in (NAMESPACE, "/aws/sagemaker/ProcessingJobs", "/aws/sagemaker/TransformJobs"):
        more = {"Namespace": each, "Period": 10}
        of_host = asked("CPUUtilization", "Host", "other-kind/algo-1", **more)
        answer = ask("cloudwatch", "GetMetricStatistics", **of_host)
        assert [point["Average"] for point in answer["Datapoints"]] == ([150.0, 50.0] if each == namespace else [])
        in_log = asked("accuracy", "TrainingJobName", "other-kind", **more)
        assert not ask("cloudwatch", "GetMetricStatistics", **in_log)["Datapoints"]
    of_it = {"Dimensions": [{"Name": "Host", "Value": "other-kind/algo-1"}]}
    assert not ask("cloudwatch", "ListMetrics", Namespace=NAMESPACE, **of_it)["Metrics"]
    listed = [(each["Namespace"], each["MetricName"]) for each in ask("cloudwatch", "ListMetrics", **of_it)["Metrics"]]
    assert listed == [(namespace, name) for name in ("CPUUtilization", "MemoryUtilization") if namespace]
    found = ask("cloudwatch", "ListMetrics")["Metrics"]
    assert {each["Namespace"] for each in found} == {NAMESPACE} | ({namespace} if namespace else set())


def test_a_tuning_job_has_no_metrics(ask: Ask, serving: Serving) -> None:
    ask("sagemaker", "CreateHyperParameterTuningJob", **tuning_request())
    serving.store.put_document("held", "plan", {"Version": 1})  # its plan has no hosts
    for name, dimension, value in (("m", "TrainingJobName", "held"), ("CPUUtilization", "Host", "held/algo-1")):
        assert not ask("cloudwatch", "GetMetricStatistics", **asked(name, dimension, value))["Datapoints"]
        dimensions = [{"Name": dimension, "Value": value}]
        assert not ask("cloudwatch", "ListMetrics", Dimensions=dimensions)["Metrics"]


def test_a_job_that_waits_to_be_started_has_no_values_and_no_logs(ask: Ask, serving: Serving) -> None:
    definitions = [{"Name": "m", "Regex": "(x)"}]
    serving.store.add_pending(
        "waits",
        run_id="0" * 8,
        created=BEGAN,
        arn="arn",
        model_uri="file:///out",
        instances=1,
        documents={"request": {"AlgorithmSpecification": {"MetricDefinitions": definitions}}},
    )
    for name, dimension, value in (("m", "TrainingJobName", "waits"), ("CPUUtilization", "Host", "waits/algo-1")):
        assert not ask("cloudwatch", "GetMetricStatistics", **asked(name, dimension, value))["Datapoints"]
    assert ask("cloudwatch", "ListMetrics") == {"Metrics": []}
    assert not ask("logs", "DescribeLogStreams", logGroupName="/aws/sagemaker/TrainingJobs")["logStreams"]


def query(number: int, name: str, job: str, **more: Any) -> dict[str, Any]:
    metric = {"Namespace": NAMESPACE, "MetricName": name, "Dimensions": [{"Name": "TrainingJobName", "Value": job}]}
    return {"Id": f"q{number}", "MetricStat": {"Metric": metric, "Period": 60, "Stat": "Minimum"}, **more}


SPAN = {"StartTime": MINUTE, "EndTime": MINUTE + 600}


def test_several_metrics_at_once_newest_first(ask: Ask, measured: str) -> None:
    queries = [
        query(0, "train:loss", measured, Label="loss"),
        query(1, "absent", measured),
        query(2, "accuracy", measured),
        query(3, "accuracy", measured, ReturnData=False),
    ]
    answer = ask("cloudwatch", "GetMetricData", MetricDataQueries=queries, **SPAN)
    assert "NextToken" not in answer
    assert [(each["Id"], each["Label"], each["Values"]) for each in answer["MetricDataResults"]] == [
        ("q0", "loss", [1.0, 2.0]),
        ("q1", "absent", []),
        ("q2", "accuracy", [0.5]),
    ]
    assert answer["MetricDataResults"][0]["Timestamps"] == [MINUTE + 120, MINUTE + 60]
    assert {each["StatusCode"] for each in answer["MetricDataResults"]} == {"Complete"}


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_points_come_page_by_page(ask: Ask, measured: str, size: int) -> None:
    queries = [query(0, "train:loss", measured), query(1, "accuracy", measured)]
    found: dict[str, list[float]] = {}
    more: dict[str, Any] = {"ScanBy": "TimestampAscending", "MaxDatapoints": size}
    while True:
        answer = ask("cloudwatch", "GetMetricData", MetricDataQueries=queries, **SPAN, **more)
        for each in answer["MetricDataResults"]:
            found.setdefault(each["Id"], []).extend(each["Values"])
        if "NextToken" not in answer:
            break
        more["NextToken"] = answer["NextToken"]
    assert found == {"q0": [2.0, 1.0], "q1": [0.5]}


def test_queries_that_are_wrong_or_not_emulated_are_refused(ask: Ask, measured: str) -> None:
    good = query(0, "accuracy", measured)
    for queries, more, message in (
        ([good, good], {}, "not unique"),
        ([{"Id": "e", "Expression": "q0 * 2"}], {}, "not emulate expressions"),
        ([good | {"MetricStat": good["MetricStat"] | {"Stat": "p99"}}], {}, "not the statistic p99"),
        ([good | {"MetricStat": good["MetricStat"] | {"Period": 7}}], {}, "Period must be"),
        ([good], {"NextToken": "x"}, "InvalidNextToken"),
        ([good], {"NextToken": "\u0663"}, "InvalidNextToken"),
        ([good], {"MaxDatapoints": 0}, "MaxDatapoints"),
        ([good], {"EndTime": MINUTE}, "StartTime must be less"),
    ):
        with pytest.raises(ServiceError, match=message):
            ask("cloudwatch", "GetMetricData", MetricDataQueries=queries, **(SPAN | more))


def test_metrics_with_values_are_listed(ask: Ask, measured: str, store_job: Callable[..., StoredJob]) -> None:
    store_job("another", request={"AlgorithmSpecification": {"MetricDefinitions": [{"Name": "m", "Regex": "(x)"}]}})

    def listed(**parameters: Any) -> list[tuple[str, str]]:
        found = ask("cloudwatch", "ListMetrics", **parameters)["Metrics"]
        return [(each["MetricName"], each["Dimensions"][0]["Value"]) for each in found]

    logged = [(name, measured) for name in NAMES]
    used = [(name, f"{measured}/algo-1") for name in ("CPUUtilization", "MemoryUtilization")]
    assert listed() == listed(Namespace=NAMESPACE) == logged + used
    assert listed(MetricName="accuracy") == [("accuracy", measured)]
    assert listed(Dimensions=[{"Name": "TrainingJobName"}]) == logged
    assert listed(Dimensions=[{"Name": "Host", "Value": f"{measured}/algo-1"}]) == used
    assert listed(Dimensions=[{"Name": "Host", "Value": "absent/algo-1"}]) == []
    assert listed(Namespace="AWS/EC2") == []
    with pytest.raises(ServiceError, match="NextToken is invalid"):
        ask("cloudwatch", "ListMetrics", NextToken="x")


def test_metrics_are_listed_page_by_page(
    ask: Ask, store_job: Callable[..., StoredJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("smlocal.endpoint.cloudwatch.operations._METRICS_ON_A_PAGE", 2)
    request = {"AlgorithmSpecification": {"MetricDefinitions": [{"Name": "m", "Regex": "(x)"}]}}
    for number in range(5):
        store_job(f"job-{number}", request=request).values([(0, 0, 1.0, 1.0)])
    pages = [ask("cloudwatch", "ListMetrics")]
    while "NextToken" in pages[-1]:
        pages.append(ask("cloudwatch", "ListMetrics", NextToken=pages[-1]["NextToken"]))
    assert [len(page["Metrics"]) for page in pages] == [2, 2, 1]
    values = [each["Dimensions"][0]["Value"] for page in pages for each in page["Metrics"]]
    assert values == [f"job-{number}" for number in range(5)]
