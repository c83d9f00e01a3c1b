"""The `Local` block in a job file of this platform."""

import re
from typing import Any, Final

from smlocal.contract.validation.violation import Violation
from smlocal.jobfile import local_block
from smlocal.jobfile.document import Document
from smlocal.jobfile.local_block import without_meaning, wrong_region, wrong_source
from smlocal.jobfile.option import LOCAL, Kind
from smlocal.jobfile.settings import LocalSettings
from smlocal.platforms.ai_platform.locations import wrong_sources
from smlocal.platforms.ai_platform.model.members import JobKind

_REGION: Final = re.compile(r"[a-z]+(-[a-z]+)+[0-9]+", re.ASCII)


def read_local(
    document: Document, kind: JobKind, request: dict[str, Any] | None, *, allowed: bool
) -> tuple[LocalSettings | None, list[Violation]]:
    """The settings, and what is wrong with them. `request`: None if it is not valid: nothing is compared with it."""
    local, violations = local_block.read_local(document, allowed=allowed)
    if local is not None:
        text = "is not a Cloud Storage location; write gs://bucket or gs://bucket/folder"
        violations += [wrong_source(key, text) for key in wrong_sources(local.Sources)]
        violations += without_meaning(local, Kind.REPLICAS)
        if local.Region is not None and not _REGION.fullmatch(local.Region):
            violations.append(wrong_region(local.Region, "us-central1"))
        if local.Faults:
            from smlocal.platforms.ai_platform.jobfile.fault_rules import broken_fault_rules  # few jobs have any

            violations += broken_fault_rules(local, kind, request)
        if len(local.Engines) > 1:
            text = "Local.Engines: all replicas of a job of this platform run on one engine here; name one of them"
            violations.append(Violation(path=(LOCAL, "Engines"), text=text))
    return local, violations
