"""Names and ids of a job.

Identifiers that the services would choose are made from the job's name: the same each time.
"""

import hashlib
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from smlocal.ai_platform.model.members import ReplicaJobKind

DEFAULT_REGION: Final = "us-central1"
PROJECT: Final = "000000000000"
"""The number of a project: there is none on this machine."""
_LONGEST_NAME: Final = 63
JOB_ID: Final = r"[a-zA-Z][a-zA-Z0-9_]{0,127}"
_CUSTOM_JOB_NAME: Final = rf"[a-zA-Z0-9][a-zA-Z0-9_.-]{{0,{_LONGEST_NAME - 1}}}"


def job_name(kind: ReplicaJobKind, request: Mapping[str, Any], *, stem: str, now: datetime) -> str:
    """The name of a new job on this machine; `stem` is the name of its file.

    A jobId is the name. Display names need not be different, so the time is added to them.
    """
    if kind is ReplicaJobKind.TRAINING_JOB and "jobId" in request:
        return str(request["jobId"])
    mark = "_" if kind is ReplicaJobKind.TRAINING_JOB else "-"
    base = re.sub(r"[^a-zA-Z0-9]+", mark, request.get("displayName", stem)).strip(mark)
    if not base[:1].isalpha():
        base = f"job{mark}{base}" if base else "job"
    stamp = mark.join(("", now.strftime("%Y%m%d"), now.strftime("%H%M%S"), f"{now.microsecond // 1000:03}"))
    return base[: _LONGEST_NAME - len(stamp)].rstrip(mark) + stamp


def broken_name_rule(kind: ReplicaJobKind, name: str) -> str | None:
    """The rule that a name chosen by a user breaks, if any: it names a folder and containers."""
    if kind is ReplicaJobKind.TRAINING_JOB:
        rule = "letters, digits and underscores only, begins with a letter, and has at most 128 characters"
        return None if re.fullmatch(JOB_ID, name) else rule
    rule = (
        f"letters, digits, _, . and - only, begins with a letter or a digit, and has at most {_LONGEST_NAME} characters"
    )
    return None if re.fullmatch(_CUSTOM_JOB_NAME, name) else rule


def job_region(kind: ReplicaJobKind, request: Mapping[str, Any], *, stated: str | None) -> str:
    """The region in messages and names: that of the request, else `Local.Region`, else us-central1."""
    own = request["trainingInput"].get("region") if kind is ReplicaJobKind.TRAINING_JOB else None
    return own or stated or DEFAULT_REGION


def cluster_id(job: str) -> str:
    """The part of host names that all replicas of a job share."""
    return _digits(job)[:10]


def custom_job_number(job: str) -> str:
    """The number in the name of a custom job."""
    return str(int(_digits(job)[:15], 16) + 10**18)


def resource_name(job: str, *, region: str) -> str:
    """`CustomJob.name`."""
    return f"projects/{PROJECT}/locations/{region}/customJobs/{custom_job_number(job)}"


def cloud_id(job: str) -> str:
    """`task.cloud` in TF_CONFIG, which means nothing to a program."""
    return f"w{_digits(job)[10:26]}-ml"


def _digits(job: str) -> str:
    return hashlib.sha256(job.encode()).hexdigest()
