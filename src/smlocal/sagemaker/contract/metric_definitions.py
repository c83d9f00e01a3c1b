"""The metrics that a request wants from the logs."""

from collections.abc import Mapping
from typing import Any

from smlocal.terms.metric_values import MetricPattern


def definitions_of(request: Mapping[str, Any]) -> tuple[MetricPattern, ...]:
    """The definitions of a valid request, in its order."""
    given = (request.get("AlgorithmSpecification") or {}).get("MetricDefinitions") or ()
    return tuple(MetricPattern(name=each["Name"], regex=each["Regex"]) for each in given)
