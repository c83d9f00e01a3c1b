"""Validate a job file: the result is a request with local settings, or one error with all mistakes."""

import re
from dataclasses import field
from typing import Any

from smlocal.contract.validation.check import validate
from smlocal.contract.validation.member_path import Path, spoken
from smlocal.contract.validation.violation import Violation
from smlocal.jobfile.document import Document
from smlocal.jobfile.local_settings import LocalSettings
from smlocal.jobfile.refusal import invalid_request
from smlocal.platforms.sagemaker.contract.coverage import lookup
from smlocal.platforms.sagemaker.contract.identity import is_region_name
from smlocal.platforms.sagemaker.contract.model.request import CreateTrainingJobRequest
from smlocal.platforms.sagemaker.contract.validation.rules import broken_rules
from smlocal.platforms.sagemaker.jobfile.unsupported import unsupported_request
from smlocal.quick_dataclass import dataclass

LOCAL = "Local"
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
    local, in_local = read_local(document, raw)
    violations += in_local
    if not local_allowed and LOCAL in document.data:
        violations.append(Violation(path=(LOCAL,), text=f"{LOCAL} is for this machine: the service has no such member"))
    violations += broken_rules(raw, strict=strict)
    not_done = lookup.refused(raw)
    if violations or request is None or local is None:
        raise invalid_request(document, violations + [violation for _, violation in not_done])
    if not_done:
        raise unsupported_request(document, not_done)
    return JobFile(request=request, local=local, raw=raw, document=document)


def read_local(document: Document, request: dict[str, Any]) -> tuple[LocalSettings | None, list[Violation]]:
    """The `Local` block, or what is wrong with it."""
    data = document.data.get(LOCAL)
    if data is None:
        return LocalSettings(), []
    local, violations = validate(LocalSettings, data, strict=False, path=(LOCAL,), written=document.written)
    if local is not None:
        violations += [_no_location(key) for key in local.Sources if not _LOCATION.match(key)]
        paths = {"Output": local.Output, "Code": local.Code}
        violations += [_blank(name) for name, path in paths.items() if path is not None and not path.strip()]
        if data.keys() & {"Endpoints", "NetworkRange"}:
            from smlocal.jobfile.network_settings import network_violations  # few jobs say anything about it

            violations += network_violations(local, path=(LOCAL,))
        if local.Region is not None and not is_region_name(local.Region):
            text = f"Local.Region: '{local.Region}' is not a valid region; write it like us-east-1"
            violations.append(Violation(path=(LOCAL, "Region"), text=text))
        if local.Faults:
            from smlocal.platforms.sagemaker.jobfile.fault_settings import fault_violations  # few jobs have any

            violations += fault_violations(local.Faults, request, path=(LOCAL, "Faults"))
        violations += _ignores(local)
        if local.AllowCpu and local.Gpus not in ("auto", "none", 0):
            text = "Local.Gpus requests GPUs and Local.AllowCpu a run without them: remove one of the two"
            violations.append(Violation(path=(LOCAL, "Gpus"), text=text))
    return local, violations


def _ignores(local: LocalSettings) -> list[Violation]:
    """Mistakes in `Check.Ignore` that the types do not find: a blank reason, an impossible date."""
    wrong = []
    for index, ignore in enumerate(local.Check.Ignore):
        path: Path = (LOCAL, "Check", "Ignore", index)
        if not ignore.Reason.strip():
            wrong.append(
                Violation(path=(*path, "Reason"), text=f"{spoken((*path, 'Reason'))}: write why it is ignored")
            )
        if ignore.Until is not None and not _is_day(ignore.Until):
            text = f"{spoken((*path, 'Until'))}: '{ignore.Until}' is not a day; write it like 2026-12-31"
            wrong.append(Violation(path=(*path, "Until"), text=text))
    return wrong


def _is_day(text: str) -> bool:
    from datetime import date  # few jobs say anything about it

    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _blank(name: str) -> Violation:
    return Violation(path=(LOCAL, name), text=f"Local.{name} is empty; give the path of a folder")


def _no_location(key: str) -> Violation:
    """The mistake of a key that is no location in a request, so its folder would never be used."""
    return Violation(
        path=(LOCAL, "Sources", key),
        text=f"Local.Sources: '{key}' is neither an s3:// prefix nor a file-system id; write s3://bucket/prefix",
    )


def without_nulls(value: Any) -> Any:
    """Remove null members, which must not be in the answer of describe."""
    if isinstance(value, dict):
        return {name: without_nulls(item) for name, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value
