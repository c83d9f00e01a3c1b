"""The operations of CloudWatch that are emulated, and how it refuses."""

import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.endpoint.aws_calls import Handler
from smlocal.endpoint.call import AwsCall, ServiceError
from smlocal.endpoint.page_tokens import key_of, token_of
from smlocal.endpoint.serving import Serving
from smlocal.errors import JobUnknownError
from smlocal.jobs.documents import PLAN
from smlocal.jobs.metrics.job_metrics import JobMetrics, job_metrics
from smlocal.jobs.planning.aspects.engines.look import memory_mib
from smlocal.jobs.usage.series import read_series
from smlocal.jobs.usage.usage_watch import series_path
from smlocal.sagemaker.contract.instance_types import InstanceType, size_here
from smlocal.sagemaker.kinds import KINDS, TRAINING
from smlocal.terms.usage import MIB, ContainerUsage, Point


def invalid_value(message: str) -> ServiceError:
    """A parameter that is invalid in itself."""
    return ServiceError("InvalidParameterValue", message)


def invalid_combination(message: str) -> ServiceError:
    """Parameters that do not fit together."""
    return ServiceError("InvalidParameterCombination", message)


def invalid_query(message: str) -> ServiceError:
    """The answer of GetMetricData to wrong queries."""
    return ServiceError("ValidationError", message)


def invalid_token() -> ServiceError:
    """A NextToken that did not come from here."""
    return ServiceError("InvalidNextToken", "The next token specified is invalid.")


_MOST_POINTS_OF_DATA: Final = 100_800
_MOST_QUERIES: Final = 500


def get_metric_data(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """The results in the order of the queries. A page ends after this many points, wherever that is."""
    asked = call.parameters
    queries = asked["MetricDataQueries"]
    if len(queries) > _MOST_QUERIES:
        raise invalid_query(f"The collection MetricDataQueries must not have a size greater than {_MOST_QUERIES}.")
    if asked["StartTime"] >= asked["EndTime"]:
        raise invalid_query("The parameter StartTime must be less than the parameter EndTime.")
    if len({query["Id"] for query in queries}) < len(queries):
        raise invalid_query("The values for parameter id in MetricDataQueries are not unique.")
    skipped = _position(asked.get("NextToken"))
    left = asked.get("MaxDatapoints", _MOST_POINTS_OF_DATA)
    if not 0 < left <= _MOST_POINTS_OF_DATA:
        raise invalid_query(f"MaxDatapoints must be from 1 to {_MOST_POINTS_OF_DATA}.")
    end = skipped + left
    results, before = [], 0
    for query in queries:
        points = _points(serving, asked, query)
        if not query.get("ReturnData", True):
            continue
        page = points[max(0, skipped - before) : max(0, end - before)]
        first_page = before >= skipped
        complete = before + len(points) <= end
        before += len(points)
        if page or (first_page and complete):
            results.append(
                {
                    "Id": query["Id"],
                    "Label": query.get("Label", query["MetricStat"]["Metric"].get("MetricName", "")),
                    "Timestamps": [at for at, _ in page],
                    "Values": [value for _, value in page],
                    "StatusCode": "Complete" if complete else "PartialData",
                }
            )
    return {"MetricDataResults": results, "Messages": [], **({"NextToken": token_of(end)} if before > end else {})}


def _points(serving: Serving, asked: dict[str, Any], query: dict[str, Any]) -> list[tuple[float, float]]:
    stat = query.get("MetricStat")
    if "Expression" in query or stat is None:
        raise invalid_query(f"The query {query['Id']} has no MetricStat: smlocal does not emulate expressions.")
    if stat["Stat"] not in STATISTICS:
        raise invalid_query(f"smlocal emulates {', '.join(STATISTICS)}, and not the statistic {stat['Stat']}.")
    if not is_period(stat["Period"]):
        raise invalid_query("Period must be 1, 5, 10, 20, 30 or a multiple of 60.")
    metric = stat["Metric"]
    series = find_series(
        serving, metric.get("Namespace", ""), metric.get("MetricName", ""), metric.get("Dimensions", ())
    )
    if stat.get("Unit") not in {None, series.unit}:
        return []
    found = buckets(series.points, start=asked["StartTime"], end=asked["EndTime"], period=stat["Period"])
    points = [(each.begin, each.statistic(stat["Stat"])) for each in found]
    return points if asked.get("ScanBy") == "TimestampAscending" else points[::-1]


def _position(token: str | None) -> int:
    try:
        position = 0 if token is None else key_of(token, int)[0]
    except ValueError:
        raise invalid_token() from None
    if position < 0:
        raise invalid_token()
    return int(position)


_MOST_POINTS_OF_STATISTICS: Final = 1440


def get_metric_statistics(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """A point for each period with values, by time."""
    asked = call.parameters
    start, end, period = asked["StartTime"], asked["EndTime"], asked["Period"]
    statistics = asked.get("Statistics", ())
    if "ExtendedStatistics" in asked:
        raise invalid_value("smlocal does not emulate extended statistics.")
    if not statistics:
        raise ServiceError("MissingParameter", "The parameter Statistics must be specified.")
    if start >= end:
        raise invalid_value("The parameter StartTime must be less than the parameter EndTime.")
    if not is_period(period):
        raise invalid_value("The parameter Period must be 1, 5, 10, 20, 30 or a multiple of 60.")
    points = number_of_periods(start, end, period)
    if points > _MOST_POINTS_OF_STATISTICS:
        raise invalid_combination(
            f"You have requested up to {points} datapoints, which exceeds the limit of {_MOST_POINTS_OF_STATISTICS}. "
            "You may reduce the datapoints requested by increasing Period, or decreasing the time range."
        )
    series = find_series(serving, asked["Namespace"], asked["MetricName"], asked.get("Dimensions", ()))
    found = []
    if asked.get("Unit") in {None, series.unit}:
        found = buckets(series.points, start=start, end=end, period=period)
    return {
        "Label": asked["MetricName"],
        "Datapoints": [
            {"Timestamp": each.begin, **{name: each.statistic(name) for name in statistics}, "Unit": series.unit}
            for each in found
        ],
    }


_METRICS_ON_A_PAGE: Final = 500
_RECENT_SECONDS: Final = 3 * 3600


def list_metrics(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """The metrics that have values. A page has whole jobs, in the order of their names."""
    asked = call.parameters
    try:
        last = key_of(asked["NextToken"], str)[0] if "NextToken" in asked else ""
    except ValueError:
        raise invalid_value("The value for parameter NextToken is invalid.") from None
    found: list[dict[str, Any]] = []
    for job in _jobs(serving, asked):
        if job <= last:
            continue
        if len(found) >= _METRICS_ON_A_PAGE:
            return {"Metrics": found, "NextToken": token_of(last)}
        found += _metrics(serving, asked, job)
        last = job
    return {"Metrics": found}


def _jobs(serving: Serving, asked: dict[str, Any]) -> list[str]:
    named = {each["Value"].partition("/")[0] for each in asked.get("Dimensions", ()) if "Value" in each}
    wanted = [platform for platform, each in NAMESPACES.items() if asked.get("Namespace", each) == each]
    return sorted(named or (name for platform in wanted for name in serving.store.names(platform=platform)))


def _metrics(serving: Serving, asked: dict[str, Any], job: str) -> Iterator[dict[str, Any]]:
    wanted = asked.get("Dimensions", ())
    try:
        record = serving.store.get(job)
        namespace = NAMESPACES.get(record.platform)
        if namespace is None or asked.get("Namespace", namespace) != namespace:
            return
        if "RecentlyActive" in asked and record.modified < time.time() - _RECENT_SECONDS:
            return
        for name, dimension, value in metrics_of(serving, job):
            fits = all(each["Name"] == dimension and each.get("Value", value) == value for each in wanted)
            if fits and asked.get("MetricName", name) == name:
                yield {
                    "Namespace": namespace,
                    "MetricName": name,
                    "Dimensions": [{"Name": dimension, "Value": value}],
                }
    except JobUnknownError:  # removed meanwhile
        return


NAMESPACES: Final[Mapping[str, str]] = {each.name: each.log_group for each in (TRAINING, *KINDS) if each.log_group}
"""The namespace of each kind of job."""
JOB: Final = "TrainingJobName"
"""The dimension of metrics of a log, which only training jobs have."""
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
        if given.keys() == {JOB} and _is_in(serving, given[JOB], namespace):
            metrics = job_metrics(serving.store, given[JOB])
            return MetricSeries(points=_logged(metrics, name), unit="None")
        if given.keys() == {HOST}:
            job, _, host = given[HOST].partition("/")
            if _is_in(serving, job, namespace):
                return MetricSeries(points=_used(serving, job, host, name), unit="Percent")
    except JobUnknownError:
        pass
    return NOTHING


def _is_in(serving: Serving, job: str, namespace: str) -> bool:
    return NAMESPACES.get(serving.store.get(job).platform) == namespace


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


HANDLERS: Mapping[str, Handler] = {
    "GetMetricData": get_metric_data,
    "GetMetricStatistics": get_metric_statistics,
    "ListMetrics": list_metrics,
}
