"""Find faults that could never happen, or not as they are written."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from smlocal.contract.validation.violation import Violation
from smlocal.jobfile.local_block import Wrong, fault_violations, wrong_time
from smlocal.jobfile.settings import Fault, LocalSettings
from smlocal.platforms.sagemaker.contract.outcome.describe import DEFAULT_MAX_RUNTIME

KINDS: Final = ("Interrupt", "InternalError", "LateNames", "LateFifo")


def broken_fault_rules(local: LocalSettings, request: Mapping[str, Any]) -> list[Violation]:
    """What is wrong with the faults of a job."""
    return fault_violations(local.Faults, kinds=KINDS, wrong=partial(_wrong, request=request))


def _wrong(fault: Fault, request: Mapping[str, Any]) -> Wrong:
    if fault.Kind in {"LateNames", "LateFifo"}:
        yield from _wrong_delay(fault, request)
        return
    if fault.Kind == "Interrupt":
        if request.get("EnableManagedSpotTraining") is not True:
            text = "only spot instances are interrupted; set EnableManagedSpotTraining: true, or remove the fault"
            yield "Kind", text
        if fault.When != "During":
            yield "When", f"{fault.When} is for InternalError only; an interruption is always During training"
    yield from wrong_time(fault, longest=_max_runtime(request), limit="MaxRuntimeInSeconds")


def _wrong_delay(fault: Fault, request: Mapping[str, Any]) -> Wrong:
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
