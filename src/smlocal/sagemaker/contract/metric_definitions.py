"""The metrics that a request wants from the logs."""

from collections.abc import Mapping
from typing import Any, Final

from smlocal.terms.metric_values import MetricPattern

OBJECTIVE_KEY: Final = "_tuning_objective_metric"
"""The hyperparameter that tells a training job the objective metric of the tuning job that made it."""


def definitions_of(request: Mapping[str, Any]) -> tuple[MetricPattern, ...]:
    """The definitions of a valid request, in its order."""
    given = (request.get("AlgorithmSpecification") or {}).get("MetricDefinitions") or ()
    return tuple(MetricPattern(name=each["Name"], regex=each["Regex"]) for each in given)
