"""What a job may cost, in instance-hours: prices are the service's to name."""

from collections.abc import Mapping
from typing import Any

from smlocal.platforms.sagemaker.contract.outcome.describe import DEFAULT_MAX_RUNTIME
from smlocal.quick_dataclass import dataclass

_MINUTE, _HOUR = 60, 3600
_TEN = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """The most that one job may use."""

    instances: tuple[tuple[int, str], ...]
    """How many of which type."""
    seconds: int
    """MaxRuntimeInSeconds."""
    stated: bool
    """False if the request does not limit the time, so that the service's default counts."""
    spot: bool
    kept_seconds: int
    """How long the service keeps the instances after the end, for the next job."""

    @property
    def hours(self) -> float:
        """Instance-hours at most, those of a warm pool too."""
        return sum(count for count, _ in self.instances) * (self.seconds + self.kept_seconds) / _HOUR

    @property
    def sentence(self) -> str:
        """`2 × ml.p3.2xlarge for at most 24 h: 48 instance-hours`."""
        machines = " and ".join(f"{count} × {kind}" for count, kind in self.instances)
        limit = f"{machines} for at most {duration(self.seconds)}"
        if self.kept_seconds:
            limit += f" and {duration(self.kept_seconds)} as a warm pool"
        return f"{limit}: {_hours(self.hours)}"


def cost_of(request: Mapping[str, Any]) -> Cost | None:
    """The most that a valid request may use; None if it names no instances."""
    resources = request.get("ResourceConfig") or {}
    if resources.get("InstanceGroups"):
        instances = tuple((group["InstanceCount"], group["InstanceType"]) for group in resources["InstanceGroups"])
    elif "InstanceType" in resources:
        instances = ((resources.get("InstanceCount", 1), resources["InstanceType"]),)
    elif resources.get("InstancePreferences"):
        preferred = resources["InstancePreferences"]
        count = max(each.get("InstanceCount") or resources.get("InstanceCount") or 1 for each in preferred)
        instances = ((count, " or ".join(each["InstanceType"] for each in preferred)),)
    else:
        return None
    seconds = (request.get("StoppingCondition") or {}).get("MaxRuntimeInSeconds")
    return Cost(
        instances=instances,
        seconds=seconds if seconds is not None else DEFAULT_MAX_RUNTIME,
        stated=seconds is not None,
        spot=request.get("EnableManagedSpotTraining") is True,
        kept_seconds=resources.get("KeepAlivePeriodInSeconds", 0),
    )


def _hours(hours: float) -> str:
    amount = f"{hours:,.0f}" if hours >= _TEN else f"{hours:.2g}"
    return f"{amount} instance-hour{'s' * (amount != '1')}"


def duration(seconds: int) -> str:
    """`90 s`, `24 h`, `1 h 30 min`."""
    if seconds < 2 * _MINUTE or seconds % _MINUTE:
        return f"{seconds} s"
    hours, minutes = seconds // _HOUR, seconds % _HOUR // _MINUTE
    return " ".join([*([f"{hours} h"] if hours else []), *([f"{minutes} min"] if minutes or not hours else [])])
