"""The debugger rules of a job: a bar for each beside the phases, and every change of a status."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from smlocal.platforms.sagemaker.contract.outcome.rule_statuses import RuleStatus
from smlocal.report.timeline import Timeline

_MIN_WIDTH = 4.0
_ISSUES = {RuleStatus.ISSUES_FOUND, RuleStatus.ERROR}


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleBar:
    """From the creation of the job to the last change of the rule's status."""

    name: str
    status: str
    """With the step, if it has one."""
    issue: bool
    running: bool
    seconds: float
    width: float


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleChange:
    """A new status."""

    seconds: float
    """Since the creation of the job."""
    name: str
    status: str
    details: str


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleHistory:
    """All rules, and all changes in their order."""

    bars: tuple[RuleBar, ...] = ()
    changes: tuple[RuleChange, ...] = ()


def rule_history(answer: Mapping[str, Any], recorded: Sequence[Mapping[str, Any]], seconds: float) -> RuleHistory:
    """`answer` is that of describe, `recorded` are all new statuses, oldest first; the timeline has these seconds."""
    created = answer.get("CreationTime", 0.0)  # jobs of platforms without rules have another word for it
    steps = {each["RuleConfigurationName"]: each.get("Step") for each in recorded}
    bars = []
    for each in answer.get("DebugRuleEvaluationStatuses", ()):
        name, status = each["RuleConfigurationName"], RuleStatus(each["RuleEvaluationStatus"])
        lasted = each["LastModifiedTime"] - created if status.terminal else seconds
        step = steps.get(name)
        bars.append(
            RuleBar(
                name=name,
                status=status.value if step is None else f"{status.value} at step {step:,}",
                issue=status in _ISSUES,
                running=not status.terminal,
                seconds=lasted,
                width=max(_MIN_WIDTH, min(1.0, lasted / seconds) * Timeline.WIDTH) if seconds > 0 else _MIN_WIDTH,
            )
        )
    changes = [
        RuleChange(
            seconds=each["LastModifiedTime"] - created,
            name=each["RuleConfigurationName"],
            status=each["RuleEvaluationStatus"],
            details=each.get("Reason") or each.get("StatusDetails", ""),
        )
        for each in recorded
    ]
    return RuleHistory(bars=tuple(bars), changes=tuple(changes))
