"""GetMetricData: one statistic each of several metrics, page by page."""

from typing import Any, Final

from smlocal.server.call import Call
from smlocal.server.cloudwatch.errors import invalid_query, invalid_token
from smlocal.server.cloudwatch.series import find_series
from smlocal.server.cloudwatch.statistics import STATISTICS, buckets, is_period
from smlocal.server.serving import Serving

_MOST_POINTS: Final = 100_800
_MOST_QUERIES: Final = 500
_LONGEST_TOKEN: Final = 12


def get_metric_data(serving: Serving, call: Call) -> dict[str, Any]:
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
    left = asked.get("MaxDatapoints", _MOST_POINTS)
    if not 0 < left <= _MOST_POINTS:
        raise invalid_query(f"MaxDatapoints must be from 1 to {_MOST_POINTS}.")
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
