"""Find faults that could never happen, or not as they are written."""

from collections.abc import Mapping
from functools import partial
from math import ceil
from typing import Any, Final

from smlocal.contract.hosts import listed
from smlocal.contract.validation.violation import Violation
from smlocal.jobfile.local_block import Wrong, fault_violations, wrong_time
from smlocal.jobfile.settings import Fault, LocalSettings
from smlocal.platforms.ai_platform.identity import DEFAULT_REGION
from smlocal.platforms.ai_platform.model.members import JobKind
from smlocal.platforms.ai_platform.replicas import replicas
from smlocal.platforms.ai_platform.rules_of_request import lifecycle_rules
from smlocal.quick_dataclass import dataclass

KINDS: Final = ("StockOut", "InternalError", "Maintenance")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Job:
    """What faults are compared with."""

    replicas: tuple[str, ...]
    longest: int
    limit: str


def broken_fault_rules(local: LocalSettings, kind: JobKind, request: Mapping[str, Any] | None) -> list[Violation]:
    """What is wrong with the faults of a job. `request`: None if it is not valid."""
    job = None
    if request is not None:
        job = _Job(
            replicas=tuple(each.host for each in replicas(kind, request, job="")),
            longest=ceil(lifecycle_rules(kind, request, region=DEFAULT_REGION).max_running or 0),
            limit="maxRunningTime" if kind is JobKind.TRAINING_JOB else "timeout",
        )
    return fault_violations(local.Faults, kinds=KINDS, wrong=partial(_wrong, job=job))


def _wrong(fault: Fault, job: _Job | None) -> Wrong:
    if fault.Kind == "StockOut":
        if fault.When != "During":
            yield "When", f"{fault.When} is for InternalError only; a stock-out is always before the replicas start"
        if fault.AfterSeconds:
            yield "AfterSeconds", "a stock-out is before the replicas start; remove it"
        return
    if fault.Kind == "InternalError" and fault.When == "After":
        yield "When", "After changes nothing: the end of the primary replica has decided about the job"
    if fault.Kind == "Maintenance":
        if fault.When != "During":
            yield "When", f"{fault.When} is for InternalError only; maintenance is always during training"
        if job is not None and fault.Replica is not None and fault.Replica not in job.replicas:
            yield "Replica", f"the job has no replica '{fault.Replica}'; it has {listed(job.replicas)}"
    if job is not None:
        yield from wrong_time(fault, longest=job.longest, limit=job.limit)
