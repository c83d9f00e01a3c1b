"""The `Local` block in a job file of this platform."""

import re
from typing import Any, Final

from smlocal.contract.validation.violation import Violation
from smlocal.jobfile import local_block
from smlocal.jobfile.document import Document
from smlocal.jobfile.local_block import LOCAL, without_meaning, wrong_region, wrong_source
from smlocal.jobfile.local_settings import LocalSettings
from smlocal.platforms.ai_platform.locations import wrong_sources
from smlocal.platforms.ai_platform.model.members import JobKind

_REGION: Final = re.compile(r"[a-z]+(-[a-z]+)+[0-9]+", re.ASCII)
_NO_CHANNELS: Final = "jobs of this platform have no channels"
_NO_DOWNLOADS: Final = "nothing is downloaded for jobs of this platform"
_NO_RULES: Final = "jobs of this platform have no debugger rules"
_NO_SUCH_FILE: Final = "replicas of this platform have no resourceconfig.json"
WITHOUT_MEANING: Final = {
    "AllowedBuckets": "jobs of this platform use no S3",
    "Publish": "nothing is uploaded from jobs of this platform; their output is in folders of this machine",
    "Cache": _NO_DOWNLOADS,
    "CacheGiB": _NO_DOWNLOADS,
    "Credentials": "replicas of this platform are not given any",
    "Sample": _NO_CHANNELS,
    "Code": "replicas of this platform have no /opt/ml/code; a folder in Local.Sources is mounted at /gcs",
    "Staging": _NO_CHANNELS,
    "PeerGraceSeconds": "all replicas of this platform get StopGraceSeconds",
    "Endpoints": "replicas of this platform are not given URLs of AWS services",
    "Placement": "all replicas of a job of this platform run on one engine",
    "ResourceConfigKeys": _NO_SUCH_FILE,
    "NetworkInterface": _NO_SUCH_FILE,
    "MergeOutput": "the output of jobs of this platform is not packed",
    "DataParallel": "smdistributed.dataparallel is not a library of this platform",
    "Rules": _NO_RULES,
    "OnRule": _NO_RULES,
}
"""Settings that are refused, and why."""


def read_local(
    document: Document, kind: JobKind, request: dict[str, Any] | None, *, allowed: bool
) -> tuple[LocalSettings | None, list[Violation]]:
    """The settings, and what is wrong with them. `request`: None if it is not valid: nothing is compared with it."""
    local, violations = local_block.read_local(document, allowed=allowed)
    if local is not None:
        text = "is not a Cloud Storage location; write gs://bucket or gs://bucket/folder"
        violations += [wrong_source(key, text) for key in wrong_sources(local.Sources)]
        violations += without_meaning(local, WITHOUT_MEANING)
        if local.Region is not None and not _REGION.fullmatch(local.Region):
            violations.append(wrong_region(local.Region, "us-central1"))
        if local.Faults:
            from smlocal.platforms.ai_platform.jobfile.fault_rules import broken_fault_rules  # few jobs have any

            violations += broken_fault_rules(local, kind, request)
        if len(local.Engines) > 1:
            text = "Local.Engines: all replicas of a job of this platform run on one engine here; name one of them"
            violations.append(Violation(path=(LOCAL, "Engines"), text=text))
    return local, violations
