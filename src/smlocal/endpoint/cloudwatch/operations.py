"""The operations of CloudWatch that are emulated, and how it refuses."""

import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

from smlocal.endpoint.aws_calls import Handler
from smlocal.endpoint.call import AwsCall, ServiceError
from smlocal.endpoint.cloudwatch.series import (
    NAMESPACE,
    STATISTICS,
    buckets,
    find_series,
    is_period,
    metrics_of,
    number_of_periods,
)
from smlocal.endpoint.serving import Serving
from smlocal.errors import JobUnknownError
from smlocal.sagemaker.name import NAME


def invalid_value(message: str) -> ServiceError:
    """A parameter that is wrong by itself."""
    return ServiceError("InvalidParameterValue", message)


def invalid_combination(message: str) -> ServiceError:
    """Parameters that do not fit together."""
    return ServiceError("InvalidParameterCombination", message)


def invalid_query(message: str) -> ServiceError:
    """What GetMetricData answers to wrong queries."""
    return ServiceError("ValidationError", message)


def invalid_token() -> ServiceError:
    """A NextToken that did not come from here."""
    return ServiceError("InvalidNextToken", "The next token specified is invalid.")


_MOST_POINTS_OF_DATA: Final = 100_800
_MOST_QUERIES: Final = 500
_LONGEST_TOKEN: Final = 12


def get_metric_data(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """The results in the order of the queries. A page ends after so many points, wherever that is."""
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
    return {"MetricDataResults": results, "Messages": [], **({"NextToken": str(end)} if before > end else {})}


def _points(serving: Serving, asked: dict[str, Any], query: dict[str, Any]) -> list[tuple[float, float]]:
    stat = query.get("MetricStat")
    if "Expression" in query or stat is None:
        raise invalid_query(f"The query {query['Id']} has no MetricStat: smlocal emulates no expressions.")
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
    if token is None:
        return 0
    if not (token.isascii() and token.isdecimal()) or len(token) > _LONGEST_TOKEN:
        raise invalid_token()
    return int(token)


_MOST_POINTS_OF_STATISTICS: Final = 1440


def get_metric_statistics(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """A point for each period with values, by time."""
    asked = call.parameters
    start, end, period = asked["StartTime"], asked["EndTime"], asked["Period"]
    statistics = asked.get("Statistics", ())
    if "ExtendedStatistics" in asked:
        raise invalid_value("smlocal emulates no extended statistics.")
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
_MARK: Final = "after/"


def list_metrics(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """The metrics that have values. A page has whole jobs, in the order of their names."""
    asked = call.parameters
    token = asked.get("NextToken", _MARK)
    if not token.startswith(_MARK):
        raise invalid_value("The value for parameter NextToken is invalid.")
    found: list[dict[str, Any]] = []
    last = token.removeprefix(_MARK)
    for job in _jobs(serving, asked):
        if job <= last:
            continue
        if len(found) >= _METRICS_ON_A_PAGE:
            return {"Metrics": found, "NextToken": f"{_MARK}{last}"}
        found += _metrics(serving, asked, job)
        last = job
    return {"Metrics": found}


def _jobs(serving: Serving, asked: dict[str, Any]) -> list[str]:
    if asked.get("Namespace", NAMESPACE) != NAMESPACE:
        return []
    named = {each["Value"].partition("/")[0] for each in asked.get("Dimensions", ()) if "Value" in each}
    return sorted(named or serving.store.names(platform=NAME))


def _metrics(serving: Serving, asked: dict[str, Any], job: str) -> Iterator[dict[str, Any]]:
    wanted = asked.get("Dimensions", ())
    try:
        if "RecentlyActive" in asked and serving.store.get(job).modified < time.time() - _RECENT_SECONDS:
            return
        for name, dimension, value in metrics_of(serving, job):
            fits = all(each["Name"] == dimension and each.get("Value", value) == value for each in wanted)
            if fits and asked.get("MetricName", name) == name:
                yield {
                    "Namespace": NAMESPACE,
                    "MetricName": name,
                    "Dimensions": [{"Name": dimension, "Value": value}],
                }
    except JobUnknownError:  # removed meanwhile
        return


HANDLERS: Mapping[str, Handler] = {
    "GetMetricData": get_metric_data,
    "GetMetricStatistics": get_metric_statistics,
    "ListMetrics": list_metrics,
}
