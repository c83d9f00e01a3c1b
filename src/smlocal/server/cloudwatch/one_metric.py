"""GetMetricStatistics: several statistics of one metric."""

from typing import Any, Final

from smlocal.server.call import Call, ServiceError
from smlocal.server.cloudwatch.errors import invalid_combination, invalid_value
from smlocal.server.cloudwatch.series import find_series
from smlocal.server.cloudwatch.statistics import buckets, is_period, number_of_periods
from smlocal.server.serving import Serving

_MOST_POINTS: Final = 1440


def get_metric_statistics(serving: Serving, call: Call) -> dict[str, Any]:
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
    if points > _MOST_POINTS:
        raise invalid_combination(
            f"You have requested up to {points} datapoints, which exceeds the limit of {_MOST_POINTS}. "
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
