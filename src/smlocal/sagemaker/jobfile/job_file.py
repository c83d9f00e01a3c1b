"""Validate a job file: the result is a request with local settings, or one error with all mistakes."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import partial
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import FieldRefusedError
from smlocal.jobfile import local_block
from smlocal.jobfile.document import Document
from smlocal.jobfile.local_block import (
    Wrong,
    fault_violations,
    invalid_request,
    mistake_lines,
    placement_violations,
    without_meaning,
    wrong_region,
    wrong_source,
    wrong_time,
)
from smlocal.jobfile.option import LOCAL, Taker
from smlocal.jobfile.settings import Fault, LocalSettings
from smlocal.sagemaker.contract.coverage.members import MEMBERS, TABLE
from smlocal.sagemaker.contract.documents.config_files import host_names
from smlocal.sagemaker.contract.identity import is_region_name
from smlocal.sagemaker.contract.model.request import CreateTrainingJobRequest, ResourceConfig
from smlocal.sagemaker.contract.outcome.describe import DEFAULT_MAX_RUNTIME
from smlocal.sagemaker.contract.requested import MAX_PLANNED_HOSTS, host_count, with_selected
from smlocal.sagemaker.contract.validation.rules import broken_rules
from smlocal.sagemaker.jobfile.skeleton import or_skeleton
from smlocal.terms.member_table import Support
from smlocal.terms.placement import SPREAD
from smlocal.terms.validation.violation import Violation
from smlocal.terms.validation.walk import validate

_LOCATION = re.compile(r"(s3|https)://[^/]|fs-.")
FAULT_KINDS: Final = ("Interrupt", "InternalError", "LateNames", "LateFifo", "CapacityError", "ResourceLimitExceeded")
_BEFORE_THE_JOB: Final = ("CapacityError", "ResourceLimitExceeded")
"""Kinds of faults that leave nothing to run."""


@dataclass(frozen=True, kw_only=True, slots=True)
class JobFile:
    """A valid job file."""

    request: CreateTrainingJobRequest
    local: LocalSettings
    raw: dict[str, Any] = field(repr=False)
    """The request as it was given, without `Local` and without members that are null."""
    document: Document = field(repr=False)


def read_job(document: Document, *, strict: bool, local_allowed: bool = True) -> JobFile:
    """Validate a document. `strict` requires what the service requires. One error lists all mistakes."""
    asked = {name: value for name, value in document.data.items() if name != LOCAL}
    request, violations = validate(CreateTrainingJobRequest, asked, strict=strict, written=document.written)
    raw = without_nulls(asked)
    local, in_local = read_local(document, raw, allowed=local_allowed)
    violations += in_local
    violations += broken_rules(raw, strict=strict)
    not_done = MEMBERS.refused(raw)
    if violations or request is None or local is None:
        invalid = invalid_request(document, violations + [violation for _, violation in not_done])

        raise or_skeleton(document, raw, invalid)
    if not_done:
        raise unsupported_request(document, not_done)
    if request.ResourceConfig is not None and request.ResourceConfig.InstancePreferences:
        resources = with_selected(request.ResourceConfig, [fault.plain() for fault in local.Faults])
        request = CreateTrainingJobRequest(**{**vars(request), "ResourceConfig": resources})
    if document.elsewhere is not None:
        from smlocal.sagemaker.jobfile.local_paths import refuse_local_paths  # few documents are not job files

        refuse_local_paths(document)
    return JobFile(request=request, local=local, raw=raw, document=document)


def read_local(
    document: Document, request: dict[str, Any], *, allowed: bool = True
) -> tuple[LocalSettings | None, list[Violation]]:
    """The `Local` block, or the mistakes in it."""
    local, violations = local_block.read_local(document, allowed=allowed)
    if local is not None:
        text = "is neither an s3:// prefix nor a file-system id; write s3://bucket/prefix"
        violations += [wrong_source(key, text) for key in local.Sources if not _LOCATION.match(key)]
        violations += without_meaning(local, Taker.TRAINING)
        if local.Region is not None and not is_region_name(local.Region):
            violations.append(wrong_region(local.Region, "us-east-1"))
        if local.Faults:
            violations += _broken_fault_rules(local, request)
        if local.Placement != SPREAD:
            violations += _broken_placement_rules(local, request)
    return local, violations


def without_nulls(value: Any) -> Any:
    """Remove null members, which must not be in the answer of describe."""
    if isinstance(value, dict):
        return {name: without_nulls(item) for name, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value


def _broken_placement_rules(local: LocalSettings, request: Mapping[str, Any]) -> list[Violation]:
    """The mistake in a placement. Nothing if the hosts themselves are wrong."""
    resources, _ = validate(ResourceConfig, request.get("ResourceConfig"), strict=False)
    if resources is None:
        return []
    resources = with_selected(resources, [fault.plain() for fault in local.Faults])
    if host_count(resources) > MAX_PLANNED_HOSTS:
        return []
    return placement_violations(local, host_names(host_count(resources)))


def _broken_fault_rules(local: LocalSettings, request: Mapping[str, Any]) -> list[Violation]:
    """The mistakes in the faults of a job."""
    return fault_violations(local.Faults, kinds=FAULT_KINDS, wrong=partial(_wrong_fault, request=request))


def _wrong_fault(fault: Fault, request: Mapping[str, Any]) -> Wrong:
    if fault.Kind in {"LateNames", "LateFifo"}:
        yield from _wrong_delay(fault, request)
        return
    if fault.Kind in _BEFORE_THE_JOB:
        yield from _without_a_time(fault)
        if fault.Instance is not None and fault.Kind == "CapacityError":
            yield from _wrong_type(fault.Instance, request)
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


def _wrong_type(kind: str, request: Mapping[str, Any]) -> Wrong:
    resources = request.get("ResourceConfig")
    if not isinstance(resources, Mapping):
        return
    lists = [resources.get(name) for name in ("InstancePreferences", "InstanceGroups")]
    items = [item for each in lists if isinstance(each, list) for item in each]
    asked = [item.get("InstanceType") for item in (resources, *items) if isinstance(item, Mapping)]
    if kind not in asked:
        known = ", ".join(each for each in asked if isinstance(each, str)) or "no instance type"
        yield "Instance", f"the job does not ask for '{kind}'; it has {known}"


def _without_a_time(fault: Fault) -> Wrong:
    """Members that say nothing about a fault before any instance is there."""
    for member, usual in (("When", "During"), ("AfterSeconds", 0), ("Times", 1)):
        if getattr(fault, member) != usual:
            yield member, f"{fault.Kind} happens before any instance is there, and ends the job; remove it"


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


def unsupported_request(document: Document, found: list[tuple[str, Violation]]) -> FieldRefusedError:
    """One error for everything that is refused."""
    names = list(dict.fromkeys(name for name, _ in found))
    who = document.blamed(violation.path for _, violation in found)
    return FieldRefusedError(
        f"{who} uses fields that smlocal does not support: {', '.join(names)}",
        details=mistake_lines(document, [violation for _, violation in found]),
        remedy=[*_without_unsupported(names), "smlocal coverage shows how each field is handled."],
    )


def _without_unsupported(names: list[str]) -> Iterator[str]:
    """For a value, the possible values; a member without any must be removed."""
    whole = [name for name in names if not TABLE[name].values]
    for name in names:
        possible = [word for word, value in TABLE[name].values.items() if value.support is not Support.REFUSED]
        if possible:
            yield f"Use {' or '.join(possible)} for {name}."
        elif name not in whole:
            whole.append(name)
    if whole:
        yield f"Remove {'it' if names == whole[:1] else ', '.join(whole)} to run the job here."
