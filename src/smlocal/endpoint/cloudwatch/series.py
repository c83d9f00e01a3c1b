"""The metrics of training jobs, and their values as statistics of periods.

Those that a job's log has, and what its hosts used.
"""

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.endpoint.serving import Serving
from smlocal.errors import JobUnknownError
from smlocal.jobs.contract.usage import MIB, ContainerUsage, Point
from smlocal.jobs.documents import PLAN
from smlocal.jobs.metrics.job_metrics import JobMetrics, job_metrics
from smlocal.jobs.planning.aspects.engines.look import memory_mib
from smlocal.jobs.usage.series import read_series
from smlocal.jobs.usage.usage_watch import series_path
from smlocal.sagemaker.contract.instance_types import InstanceType, size_here

NAMESPACE: Final = "/aws/sagemaker/TrainingJobs"
JOB: Final = "TrainingJobName"
"""The dimension of metrics of a log."""
HOST: Final = "Host"
"""The dimension of metrics of a host: `my-job/algo-1`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricSeries:
    """One metric: times with values, in any order."""

    points: Iterable[tuple[float, float]]
    unit: str


NOTHING: Final = MetricSeries(points=(), unit="None")


def find_series(serving: Serving, namespace: str, name: str, dimensions: Iterable[Mapping[str, str]]) -> MetricSeries:
    """The series of a metric. One that does not exist has no points, as on the service."""
    given = {each["Name"]: each["Value"] for each in dimensions}
    try:
        if namespace == NAMESPACE and given.keys() == {JOB}:
            metrics = job_metrics(serving.store, given[JOB])
            return MetricSeries(points=_logged(metrics, name), unit="None")
        if namespace == NAMESPACE and given.keys() == {HOST}:
            job, _, host = given[HOST].partition("/")
            return MetricSeries(points=_used(serving, job, host, name), unit="Percent")
    except JobUnknownError:
        pass
    return NOTHING


def metrics_of(serving: Serving, job: str) -> Iterator[tuple[str, str, str]]:
    """Those of a job that have values: name of the metric, name and value of the dimension."""
    metrics = job_metrics(serving.store, job)
    missing = {definition.name for definition in metrics.definitions}
    for value in metrics.values():
        if value.name in missing:
            missing.remove(value.name)
            yield value.name, JOB, job
            if not missing:
                break
    for host in metrics.hosts:
        for name in _PERCENT:
            if any(True for _ in _used(serving, job, host, name)):
                yield name, HOST, f"{job}/{host}"


def _logged(metrics: JobMetrics, name: str) -> Iterator[tuple[float, float]]:
    if any(definition.name == name for definition in metrics.definitions):
        for value in metrics.values():
            if value.name == name and value.at is not None:
                yield value.at, value.value


def _used(serving: Serving, job: str, host: str, name: str) -> list[tuple[float, float]]:
    percent = _PERCENT.get(name)
    plan = serving.store.document(job, PLAN) or {"Hosts": ()}  # none while the job waits to be started
    kinds = {each["Name"]: each["InstanceType"] for each in plan["Hosts"] if "InstanceType" in each}
    if percent is None or host not in kinds:
        return []
    kind = size_here(kinds[host], cpus=os.cpu_count() or 1, memory_mib=memory_mib())
    try:
        containers = read_series(series_path(serving.store.directory(job), host)).containers
    except OSError:
        return []
    return [point for container in containers for point in percent(container, kind)]


def _cpu(container: ContainerUsage, _: InstanceType) -> Iterator[tuple[float, float]]:
    at, seconds = container.began, 0.0
    for point in container.points:
        if point.at > at:
            yield point.at, 100 * max(0.0, point.cpu_seconds - seconds) / (point.at - at)
        at, seconds = point.at, point.cpu_seconds


def _each(
    share: Callable[[Point, InstanceType], float | None],
) -> Callable[[ContainerUsage, InstanceType], Iterator[tuple[float, float]]]:
    def points(container: ContainerUsage, kind: InstanceType) -> Iterator[tuple[float, float]]:
        for point in container.points:
            found = share(point, kind)
            if found is not None:
                yield point.at, found

    return points


def _memory(point: Point, kind: InstanceType) -> float:
    return 100 * point.memory / (kind.memory_mib * MIB)


def _gpu(point: Point, _: InstanceType) -> float | None:
    return None if point.gpu_percent is None else float(point.gpu_percent)


def _gpu_memory(point: Point, kind: InstanceType) -> float | None:
    if point.gpu_memory is None or not kind.gpu_memory_mib:
        return None
    return 100 * point.gpu_memory / (kind.gpu_memory_mib * MIB)


_PERCENT: Final[Mapping[str, Callable[[ContainerUsage, InstanceType], Iterator[tuple[float, float]]]]] = {
    "CPUUtilization": _cpu,
    "MemoryUtilization": _each(_memory),
    "GPUUtilization": _each(_gpu),
    "GPUMemoryUtilization": _each(_gpu_memory),
}


STATISTICS: Final = ("SampleCount", "Average", "Sum", "Minimum", "Maximum")
_SHORT_PERIODS: Final = (1, 5, 10, 20, 30)
_MINUTE: Final = 60


@dataclass(frozen=True, kw_only=True, slots=True)
class PeriodValues:
    """The values of one period."""

    begin: float
    """Seconds since the epoch."""
    count: int
    total: float
    lowest: float
    highest: float

    def statistic(self, name: str) -> float:
        """One of `STATISTICS`."""
        values = (float(self.count), self.total / self.count, self.total, self.lowest, self.highest)
        return dict(zip(STATISTICS, values, strict=True))[name]


def is_period(seconds: int) -> bool:
    """True for periods that the service knows."""
    return seconds in _SHORT_PERIODS or seconds % _MINUTE == 0


def first_period(start: float, period: int) -> int:
    """Where periods begin: at a whole minute, short ones at a division of the minute."""
    step = min(period, _MINUTE)
    return math.floor(start / step) * step


def number_of_periods(start: float, end: float, period: int) -> int:
    """How many there are from `start` to `end`."""
    return max(0, math.ceil((end - first_period(start, period)) / period))


def buckets(points: Iterable[tuple[float, float]], *, start: float, end: float, period: int) -> list[PeriodValues]:
    """Those with values, by time. Points are times with values, in any order; `end` is not included."""
    begin = first_period(start, period)
    found: dict[int, tuple[int, float, float, float]] = {}
    for at, value in points:
        if begin <= at < end:
            index = int((at - begin) // period)
            count, total, lowest, highest = found.get(index, (0, 0.0, value, value))
            found[index] = (count + 1, total + value, min(lowest, value), max(highest, value))
    return [
        PeriodValues(begin=begin + index * period, count=count, total=total, lowest=lowest, highest=highest)
        for index, (count, total, lowest, highest) in sorted(found.items())
    ]
