"""ListMetrics."""

import time
from collections.abc import Iterator
from typing import Any, Final

from smlocal.errors import JobUnknownError
from smlocal.platforms.sagemaker.name import NAME
from smlocal.server.call import Call
from smlocal.server.cloudwatch.errors import invalid_value
from smlocal.server.cloudwatch.series import NAMESPACE, metrics_of
from smlocal.server.serving import Serving

_PAGE: Final = 500
_RECENT_SECONDS: Final = 3 * 3600
_MARK: Final = "after/"


def list_metrics(serving: Serving, call: Call) -> dict[str, Any]:
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
        if len(found) >= _PAGE:
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
