"""Validate a job file: the result is a request with local settings, or one error with all mistakes."""

import re
from dataclasses import field
from typing import Any

from smlocal.contract.placement import SPREAD
from smlocal.contract.validation.check import validate
from smlocal.contract.validation.violation import Violation
from smlocal.jobfile import local_block
from smlocal.jobfile.document import Document
from smlocal.jobfile.local_block import without_meaning, wrong_region, wrong_source
from smlocal.jobfile.option import LOCAL, Kind
from smlocal.jobfile.refusal import invalid_request
from smlocal.jobfile.settings import LocalSettings
from smlocal.platforms.sagemaker.contract.coverage import lookup
from smlocal.platforms.sagemaker.contract.identity import is_region_name
from smlocal.platforms.sagemaker.contract.model.request import CreateTrainingJobRequest
from smlocal.platforms.sagemaker.contract.validation.rules import broken_rules
from smlocal.platforms.sagemaker.jobfile.unsupported import unsupported_request
from smlocal.quick_dataclass import dataclass

_LOCATION = re.compile(r"(s3|https)://[^/]|fs-.")


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
    not_done = lookup.refused(raw)
    if violations or request is None or local is None:
        invalid = invalid_request(document, violations + [violation for _, violation in not_done])
        from smlocal.platforms.sagemaker.jobfile.skeleton import or_skeleton  # only after a mistake

        raise or_skeleton(document, raw, invalid)
    if not_done:
        raise unsupported_request(document, not_done)
    if document.elsewhere is not None:
        from smlocal.platforms.sagemaker.jobfile.local_paths import refuse_local_paths  # few documents are no job file

        refuse_local_paths(document)
    return JobFile(request=request, local=local, raw=raw, document=document)


def read_local(
    document: Document, request: dict[str, Any], *, allowed: bool = True
) -> tuple[LocalSettings | None, list[Violation]]:
    """The `Local` block, or what is wrong with it."""
    local, violations = local_block.read_local(document, allowed=allowed)
    if local is not None:
        text = "is neither an s3:// prefix nor a file-system id; write s3://bucket/prefix"
        violations += [wrong_source(key, text) for key in local.Sources if not _LOCATION.match(key)]
        violations += without_meaning(local, Kind.TRAINING)
        if local.Region is not None and not is_region_name(local.Region):
            violations.append(wrong_region(local.Region, "us-east-1"))
        if local.Faults:
            from smlocal.platforms.sagemaker.jobfile.fault_rules import broken_fault_rules  # few jobs have any

            violations += broken_fault_rules(local, request)
        if local.Placement != SPREAD:
            from smlocal.platforms.sagemaker.jobfile.placement_rules import broken_placement_rules  # few jobs have any

            violations += broken_placement_rules(local, request)
    return local, violations


def without_nulls(value: Any) -> Any:
    """Remove null members, which must not be in the answer of describe."""
    if isinstance(value, dict):
        return {name: without_nulls(item) for name, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value
