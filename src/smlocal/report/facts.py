"""Everything that a page about a job shows, found out before any of it is drawn."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from smlocal.quick_dataclass import dataclass
from smlocal.report.contents import Contents
from smlocal.report.log_tail import LogTail
from smlocal.report.metric_curves import MetricCurves
from smlocal.report.usage_curves import HostCurves


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """One job at one moment."""

    made: float
    """When it was looked at."""
    answer: Mapping[str, Any]
    """What `describe --json` says."""
    request: Mapping[str, Any]
    """As it may be shown around."""
    notes: tuple[Mapping[str, Any], ...]
    """What differs from the service."""
    logs: tuple[LogTail, ...] = ()
    metrics: MetricCurves = field(default_factory=MetricCurves)
    usage: tuple[HostCurves, ...] = ()
    advice: tuple[str, ...] = ()
    """And whatever else there is to say of the usage."""
    artifacts: tuple[Contents, ...] = ()

    @property
    def running(self) -> bool:
        """True while more is to come."""
        return self.answer["TrainingJobStatus"] in {"InProgress", "Stopping"}
