from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from smlocal.jobs.usage.series import UsageSeries
from smlocal.report.charts import host_charts
from smlocal.terms.usage import ContainerUsage, Point

FIGURES: dict[str, Any] = {
    "Name": "algo-1",
    "InstanceType": {"Name": "ml.m5.large", "VCpus": 2, "MemoryMiB": 8192, "Gpus": 0},
    "MemoryPeakMiB": 300.0,
    "CpuPeak": 1.5,
    "CpuMean": 0.75,
    "GpuPeakPercent": None,
    "GpuMeanPercent": None,
    "GpuMemoryPeakMiB": None,
}


@pytest.fixture
def series(point: Callable[..., Point], began: float) -> UsageSeries:
    """Two containers, one after the other: what is counted begins anew."""
    counts = [(1.0, 1000, 0), (3.0, 5000, 10), (11.0, 500, 0), (12.0, 2500, 0)]
    points = [point(at, network_received=received, network_sent=sent) for at, received, sent in counts]
    return UsageSeries(
        containers=(
            ContainerUsage(began=began, points=tuple(points[:2])),
            ContainerUsage(began=began + 10, points=tuple(points[2:])),
        )
    )


def test_what_is_measured_is_drawn_and_nothing_else(series: UsageSeries, began: float) -> None:
    charts = host_charts(FIGURES, series, began).charts
    assert [chart.title for chart in charts] == ["Memory", "CPU", "Network"]
    memory, cpu, network = charts
    assert (memory.value, memory.detail) == ("peak 300 MiB", "of 8 GiB in ml.m5.large")
    assert (cpu.value, cpu.detail) == ("peak 1.5 cores", "of 2 in ml.m5.large, mean 0.75")
    assert memory.limit is None  # far away
    assert cpu.limit == 2.0
    assert cpu.y_range == (0.0, 2.0)
    assert [(line.label, line.value) for line in network.lines] == [("received", "7.3 KiB"), ("sent", "10 B")]


def test_traffic_is_bytes_a_second_and_begins_anew_with_each_container(series: UsageSeries, began: float) -> None:
    network = host_charts(FIGURES, series, began).charts[2]
    assert network.lines[0].points == [
        (began + 1, 1000.0),
        (began + 3, 2000.0),
        (began + 11, 500.0),
        (began + 12, 2000.0),
    ]
    assert network.y_labels == ("0", "2.0 KiB/s")


def test_gpus(series: UsageSeries, began: float) -> None:
    container = series.containers[0]
    points = tuple(replace(point, gpu_percent=50, gpu_memory=1 << 30) for point in container.points)
    figures = FIGURES | {"GpuPeakPercent": 50, "GpuMeanPercent": 49.6, "GpuMemoryPeakMiB": 1024.0}
    charts = host_charts(figures, UsageSeries(containers=(replace(container, points=points),)), began).charts
    gpu, memory = charts[-2:]
    assert (gpu.value, gpu.detail, gpu.y_range) == ("peak 50 %", "mean 50 %", (0.0, 100.0))
    assert memory.value == "peak 1 GiB"


def test_without_a_series_there_are_only_figures(began: float) -> None:
    assert host_charts(FIGURES, UsageSeries(), began).charts == ()
