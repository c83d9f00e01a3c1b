import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from smlocal.jobs.metrics.job_metrics import JobMetrics, job_metrics
from smlocal.jobs.store.jobs import Store
from smlocal.report.charts import MetricCharts, metric_charts
from smlocal.terms.metrics import MetricValue

REQUEST = {
    "AlgorithmSpecification": {
        "MetricDefinitions": [{"Name": name, "Regex": f"{name}=(.*)"} for name in ("loss", "rate", "never")]
    }
}


@pytest.fixture
def charts(store: Store, began: float) -> Callable[[], MetricCharts]:
    return lambda: metric_charts(job_metrics(store, "my-tree"), began)


def test_metrics_share_one_scale_of_time(
    store_job: Callable[..., Any], charts: Callable[[], MetricCharts], began: float
) -> None:
    store_job(request=REQUEST).values([(0, 0, 3.0, 0.5), (1, 0, 7.0, 9.0), (0, 0, 5.0, 0.25)])
    found = charts()
    loss, rate = found.charts
    assert (loss.title, loss.value, loss.detail) == ("loss", "0.25", "2 values, 0.25 to 0.5")
    assert loss.x_range == rate.x_range == (began, began + 7.0)
    assert loss.x_labels == ("0 s", "7.0 s")
    assert loss.lines[0].points == [(began + 3, 0.5), (began + 5, 0.25)]
    assert loss.y_range == (0.25, 0.5)
    assert (rate.value, rate.detail) == ("9", "1 value, 9 to 9")
    assert found.without_values == ("never",)


def test_values_that_came_all_at_once_or_at_unknown_times_are_drawn_by_their_order(
    store_job: Callable[..., Any], charts: Callable[[], MetricCharts]
) -> None:
    job = store_job(request=REQUEST)
    job.values([(0, 0, 3.0, value) for value in (4.0, 2.0, 1.0)])
    assert charts().charts[0].lines[0].points == [(0.0, 4.0), (1.0, 2.0), (2.0, 1.0)]
    job.values([(0, 0, 3.0, 4.0), (0, 0, None, 2.0), (0, 0, 30.0, 1.0), (1, 0, 30.0, 1.0)])
    loss, rate = charts().charts
    assert loss.x_range == (0.0, 2.0)
    assert loss.x_labels == ("value 1", "value 3")
    assert rate.x_labels[0] == "0 s"


def test_each_host_has_its_line_and_the_last_value_is_the_latest(
    store_job: Callable[..., Any], charts: Callable[[], MetricCharts]
) -> None:
    store_job(request=REQUEST, hosts=("algo-1", "algo-2")).values(
        [(0, 1, 9.0, 0.5), (0, 0, 3.0, 0.7), (0, 1, 4.0, 0.1)]  # in the order found, which need not be that of time
    )
    (loss,) = charts().charts
    assert [(line.label, line.value) for line in loss.lines] == [("algo-1", "0.7"), ("algo-2", "0.1")]
    assert loss.value == "0.5"


def test_a_job_without_metrics_has_nothing(store_job: Callable[..., Any], charts: Callable[[], MetricCharts]) -> None:
    store_job()
    assert charts() == MetricCharts()


def test_values_that_arrive_between_the_two_readings_are_left_out(
    store_job: Callable[..., Any], charts: Callable[[], MetricCharts], monkeypatch: pytest.MonkeyPatch, began: float
) -> None:
    job = store_job(request=REQUEST)
    values = [(0, 0, 3.0, 0.5), (0, 0, 5.0, 0.25)]
    job.values(values)
    read = JobMetrics.values

    def read_then_write(metrics: JobMetrics) -> Iterator[MetricValue]:
        yield from read(metrics)
        job.values([*values, (0, 0, 9.0, 7.0), (1, 0, 9.0, 7.0)])

    monkeypatch.setattr(JobMetrics, "values", read_then_write)
    (loss,) = charts().charts
    assert loss.lines[0].points == [(began + 3, 0.5), (began + 5, 0.25)]
    assert loss.detail == "2 values, 0.25 to 0.5"


@pytest.mark.slow(0.5)
def test_the_values_are_not_held_in_memory(store_job: Callable[..., Any], charts: Callable[[], MetricCharts]) -> None:
    count = 20_000
    store_job(request=REQUEST).values((0, 0, 1 + index / 100, float(index % 977)) for index in range(count))
    tracemalloc.start()
    try:
        charts()
        assert tracemalloc.get_traced_memory()[1] < 50 * count  # one value takes more than a hundred bytes
    finally:
        tracemalloc.stop()
