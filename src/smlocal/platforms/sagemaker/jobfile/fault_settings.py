"""Find faults that could never happen, or not as they are written."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from smlocal.contract.validation.member_path import Path, spoken
from smlocal.contract.validation.violation import Violation
from smlocal.jobfile.local_settings import Fault
from smlocal.platforms.sagemaker.contract.outcome.describe import DEFAULT_MAX_RUNTIME


def fault_violations(faults: Sequence[Fault], request: Mapping[str, Any], *, path: Path) -> list[Violation]:
    """What is wrong with the faults of a job."""
    return [
        Violation(path=(*path, index, member), text=f"{spoken((*path, index, member))}: {text}")
        for index, fault in enumerate(faults)
        for member, text in _wrong(fault, request)
    ]


def _wrong(fault: Fault, request: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if fault.Kind in {"LateNames", "LateFifo"}:
        yield from _wrong_delay(fault, request)
        return
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


def _wrong_delay(fault: Fault, request: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if fault.AfterSeconds < 1:
        yield "AfterSeconds", f"{fault.Kind} needs a delay of at least 1 second"
    if fault.When != "During":
        yield "When", f"{fault.When} is for InternalError only; remove it"
    if fault.Times != 1:
        yield "Times", f"{fault.Kind} happens in every attempt; remove it"
    if fault.Kind == "LateNames" and not _has_peers(request):
        yield "Kind", "a job of one host has no peers; set InstanceCount: 2, or remove the fault"
    if fault.Kind == "LateFifo" and not _has_pipes(request):
        yield "Kind", "no channel is in Pipe mode; set InputMode: Pipe, or remove the fault"


def _has_peers(request: Mapping[str, Any]) -> bool:
    resources = request.get("ResourceConfig")
    if not isinstance(resources, Mapping):
        return False
    count = resources.get("InstanceCount")
    return bool(resources.get("InstanceGroups")) or (isinstance(count, int) and count > 1)


def _has_pipes(request: Mapping[str, Any]) -> bool:
    specification = request.get("AlgorithmSpecification")
    general = specification.get("TrainingInputMode") if isinstance(specification, Mapping) else None
    channels = request.get("InputDataConfig")
    return any(
        (channel.get("InputMode") or general) == "Pipe"
        for channel in (channels if isinstance(channels, list) else ())
        if isinstance(channel, Mapping)
    )


def _max_runtime(request: Mapping[str, Any]) -> int:
    condition = request.get("StoppingCondition")
    given = condition.get("MaxRuntimeInSeconds") if isinstance(condition, Mapping) else None
    return given if isinstance(given, int) and given > 0 else DEFAULT_MAX_RUNTIME
