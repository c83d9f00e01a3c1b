"""Faults that are asked for and could never strike, or not as they are written."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from smlocal.contract.outcome.describe import DEFAULT_MAX_RUNTIME
from smlocal.contract.validation.member_path import Path, spoken
from smlocal.contract.validation.violation import Violation
from smlocal.jobfile.local_settings import Fault


def fault_violations(faults: Sequence[Fault], request: Mapping[str, Any], *, path: Path) -> list[Violation]:
    """What is wrong with the faults of a job."""
    return [
        Violation(path=(*path, index, member), text=f"{spoken((*path, index, member))}: {text}")
        for index, fault in enumerate(faults)
        for member, text in _wrong(fault, request)
    ]


def _wrong(fault: Fault, request: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if fault.Kind == "Interrupt" and request.get("EnableManagedSpotTraining") is not True:
        yield "Kind", "only spot instances are interrupted; set EnableManagedSpotTraining: true, or remove the fault"
    if fault.When == "During":
        longest = _max_runtime(request)
        if fault.AfterSeconds >= longest:
            yield "AfterSeconds", f"must be less than MaxRuntimeInSeconds ({longest} s), when training is stopped"
        return
    if fault.Kind == "Interrupt":
        yield "When", f"{fault.When} is for InternalError only; an interruption is always During training"
    if fault.AfterSeconds:
        yield "AfterSeconds", f"counts seconds of training and has no effect with When: {fault.When}; remove it"


def _max_runtime(request: Mapping[str, Any]) -> int:
    condition = request.get("StoppingCondition")
    given = condition.get("MaxRuntimeInSeconds") if isinstance(condition, Mapping) else None
    return given if isinstance(given, int) and given > 0 else DEFAULT_MAX_RUNTIME
