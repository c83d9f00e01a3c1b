"""A job file of this platform: its request, or one error that lists every mistake."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from functools import partial
from math import ceil
from typing import Any, ClassVar, Final

from smlocal.ai_platform.comparison import request_of_answer
from smlocal.ai_platform.coverage import table
from smlocal.ai_platform.identity import DEFAULT_REGION, broken_name_rule, job_name
from smlocal.ai_platform.locations import wrong_sources
from smlocal.ai_platform.model.members import ReplicaJobKind
from smlocal.ai_platform.planned_job import lifecycle_rules
from smlocal.ai_platform.replicas import replicas
from smlocal.ai_platform.shape import is_answer, job_kind, job_kinds
from smlocal.ai_platform.validation.rules import read_request
from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import FieldRefusedError, UsageRefusedError
from smlocal.jobfile import local_block
from smlocal.jobfile.document import Document
from smlocal.jobfile.job_reading import JobReading
from smlocal.jobfile.local_block import (
    Wrong,
    fault_violations,
    invalid_request,
    mistake_lines,
    without_meaning,
    wrong_region,
    wrong_source,
    wrong_time,
)
from smlocal.jobfile.option import LOCAL, Option
from smlocal.jobfile.settings import Fault, LocalSettings
from smlocal.jobfile.yaml_text import one_line, yaml_text
from smlocal.terms.hosts import listed
from smlocal.terms.member_table import Support
from smlocal.terms.validation.violation import Violation


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplicaJobFile:
    """A valid job file."""

    kind: ReplicaJobKind
    request: dict[str, Any] = field(repr=False)
    """The whole Job or CustomJob, with the members' own names, and whole numbers as numbers."""
    local: LocalSettings
    document: Document = field(repr=False)


class ReplicaReading(JobReading):
    """Its request is written in its file: options are about this machine."""

    NAME = "jobId"
    REFUSED: ClassVar[Mapping[str, str]] = {
        "AllowedBuckets": "jobs of this platform use no S3",
        "Publish": "nothing is uploaded from jobs of this platform; their output is in folders of this machine",
        "Cache": "nothing is downloaded for jobs of this platform",
        "CacheGiB": "nothing is downloaded for jobs of this platform",
        "Credentials": "replicas of this platform are not given any",
        "Sample": "jobs of this platform have no channels",
        "Code": "replicas of this platform have no /opt/ml/code; a folder in Local.Sources is mounted at /gcs",
        "Staging": "jobs of this platform have no channels",
        "PeerGraceSeconds": "all replicas of this platform get StopGraceSeconds",
        "Placement": "all replicas of a job of this platform run on one engine",
        "SpreadOver": "jobs of this platform run on one engine, which Local.Engines names",
        "EngineInstances": "jobs of this platform run on one engine",
        "Endpoints": "replicas of this platform are not given URLs of AWS services",
        "Network": "replicas of this platform have a network of their own; use Local.Networks or Local.AddHosts",
        "ResourceConfigKeys": "replicas of this platform have no resourceconfig.json",
        "NetworkInterface": "replicas of this platform have no resourceconfig.json",
        "MergeOutput": "the output of jobs of this platform is not packed",
        "DataParallel": "smdistributed.dataparallel is not a library of this platform",
        "Rules": "jobs of this platform have no debugger rules",
        "OnRule": "jobs of this platform have no debugger rules",
    }

    def read(self, document: Document, *, strict: bool, local_allowed: bool = True) -> ReplicaJobFile:
        """Validate a document. `strict` requires what the services require. One error lists all mistakes."""
        reading = read_request(document.data, strict=strict)
        valid = not reading.violations and not reading.refused
        local, in_local = read_local(document, reading.kind, reading.request if valid else None, allowed=local_allowed)
        violations = reading.violations + in_local
        if violations or local is None:
            invalid = invalid_request(document, violations + [violation for _, violation in reading.refused])
            if is_answer(document.data):
                invalid.remedy = (f"This is the description of a job. Its job file:  smlocal init {document.name}",)
            raise invalid
        if reading.refused:
            raise _unsupported(document, reading.kind, reading.refused)
        return ReplicaJobFile(kind=reading.kind, request=reading.request, local=local, document=document)

    def read_named(
        self, document: Document, *, name: str | None, stem: str, strict: bool, local_allowed: bool = True
    ) -> tuple[ReplicaJobFile, str]:
        """The validated job, and its name; `stem` is that of its file."""
        job = self.read(document, strict=strict, local_allowed=local_allowed)
        broken = None if name is None else broken_name_rule(job.kind, name)
        if broken is not None:
            raise UsageRefusedError(
                f"{name!r} cannot be the name of a {job.kind.spoken}",
                remedy=[f"Choose a name that has {broken}."],
            )
        return job, name or job_name(job.kind, job.request, stem=stem, now=datetime.now().astimezone())

    def stem_of(self, name: str) -> str:
        """These names have a time of their own form."""
        return _TIME.sub("", name)

    def instead(self, data: Mapping[str, Any], refused: Sequence[tuple[Option, str]]) -> list[str]:
        """Some of them have a place in the file."""
        has_variables = ReplicaJobKind.CUSTOM_JOB in job_kinds(data)
        ways: dict[str, list[str]] = {"nothing": [], "arguments": [], "variables": [], "file": []}
        for option, spelled in refused:
            way = "nothing" if option.place[:1] == (LOCAL,) else _WAYS.get(option.keyword, "file")
            ways["nothing" if way == "variables" and not has_variables else way].append(spelled)
        found = []
        if ways["nothing"]:
            found.append(f"Leave out {', '.join(ways['nothing'])}: the platform of this job does not support it.")
        if ways["arguments"]:
            found.append("Write the program's arguments into args of the job file.")
        if ways["variables"]:
            found.append("Write environment variables into env of the job file.")
        if ways["file"]:
            found.append(f"Change the job file instead of using {', '.join(ways['file'])}.")
        return found


_TIME: Final = re.compile(r"([_-])\d{8}\1\d{6}\1\d{3}$")
_NOT_THERE: Final = ("entrypoint", "inputs", "processing_outputs", "input_mode", "processes_per_host")
"""Options that have no counterpart in these requests."""
_WAYS: Final[Mapping[str, str]] = {
    **dict.fromkeys(_NOT_THERE, "nothing"),
    "hyperparameters": "arguments",
    "environment": "variables",
}
"""What a file has in place of an option; by default a member."""
READING: Final = ReplicaReading()
read_job = READING.read


def _unsupported(document: Document, kind: ReplicaJobKind, found: list[tuple[str, Violation]]) -> FieldRefusedError:
    names = list(dict.fromkeys(name for name, _ in found))
    who = document.blamed(violation.path for _, violation in found)
    return FieldRefusedError(
        f"{who} uses fields that smlocal does not support: {', '.join(names)}",
        details=mistake_lines(document, [violation for _, violation in found]),
        remedy=[*_remedies(kind, names), f"smlocal coverage --of {kind.value} shows how each member is handled."],
    )


def _remedies(kind: ReplicaJobKind, names: list[str]) -> Iterator[str]:
    whole = [name for name in names if table(kind)[name].support is Support.REFUSED]
    yield from (f"Use another value for {name}." for name in names if name not in whole)
    if whole:
        yield f"Remove {'it' if names == whole[:1] else ', '.join(whole)} to run the job here."


_REGION: Final = re.compile(r"[a-z]+(-[a-z]+)+[0-9]+", re.ASCII)


def read_local(
    document: Document, kind: ReplicaJobKind, request: dict[str, Any] | None, *, allowed: bool
) -> tuple[LocalSettings | None, list[Violation]]:
    """The settings, and the mistakes in them. `request`: None if it is not valid: nothing is compared with it."""
    local, violations = local_block.read_local(document, allowed=allowed)
    if local is not None:
        text = "is not a Cloud Storage location; write gs://bucket or gs://bucket/folder"
        violations += [wrong_source(key, text) for key in wrong_sources(local.Sources)]
        violations += without_meaning(local, ReplicaReading.REFUSED)
        if local.Region is not None and not _REGION.fullmatch(local.Region):
            violations.append(wrong_region(local.Region, "us-central1"))
        if local.Faults:
            violations += broken_fault_rules(local, kind, request)
        if len(local.Engines) > 1:
            text = "Local.Engines: all replicas of a job of this platform run on one engine here; name one of them"
            violations.append(Violation(path=(LOCAL, "Engines"), text=text))
    return local, violations


# Find faults that could never happen, or not as they are written.

KINDS: Final = ("StockOut", "InternalError", "Maintenance")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Job:
    """The parts of a job that faults are compared with."""

    replicas: tuple[str, ...]
    longest: int
    limit: str


def broken_fault_rules(
    local: LocalSettings, kind: ReplicaJobKind, request: Mapping[str, Any] | None
) -> list[Violation]:
    """The mistakes in the faults of a job. `request`: None if it is not valid."""
    job = None
    if request is not None:
        job = _Job(
            replicas=tuple(each.host for each in replicas(kind, request, job="")),
            longest=ceil(lifecycle_rules(kind, request, region=DEFAULT_REGION).max_running or 0),
            limit="maxRunningTime" if kind is ReplicaJobKind.TRAINING_JOB else "timeout",
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


def job_file_text(document: "Document", *, file: str) -> str | None:
    """A job file that `smlocal run` takes, named `file`; None if the document is one already."""
    if not is_answer(document.data):
        return None
    request = {name: value for name, value in request_of_answer(document.data).items() if value is not None}
    return "".join(f"{line}\n" for line in _head(document, file)) + yaml_text(request)


def _head(document: "Document", file: str) -> Iterator[str]:
    answer = document.data
    kind = job_kind(answer).spoken
    named = next((str(answer[each]) for each in ("name", "jobId") if answer.get(each)), "of another name")
    yield f"# A {kind}. Run it here:  smlocal run {one_line(file)}"
    yield f"# See what a run would do:  smlocal plan {one_line(file)}"
    yield "#"
    yield one_line(f"# As the {kind} {named}: {answer['state']}.")
    yield ""
