"""How requests of SageMaker are read, whatever the kind of job: valid, or one error with all mistakes."""

from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from functools import partial
from typing import Any, ClassVar, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.base.regex import regex
from smlocal.errors import FieldRefusedError, RequestInvalidError
from smlocal.jobfile import local_block
from smlocal.jobfile.document import Document
from smlocal.jobfile.job_reading import AskedJob, JobReading
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
from smlocal.jobfile.option import LOCAL
from smlocal.jobfile.settings import Fault, LocalSettings
from smlocal.sagemaker.contract.identity import default_name, is_region_name
from smlocal.terms.member_table import MemberTable, Support
from smlocal.terms.model.structure import Structure
from smlocal.terms.placement import SPREAD
from smlocal.terms.validation.violation import Violation
from smlocal.terms.validation.walk import missing, validate

_LOCATION = regex(r"(s3|https)://[^/]|fs-.")
FAULT_KINDS: Final = ("Interrupt", "InternalError", "LateNames", "LateFifo", "CapacityError", "ResourceLimitExceeded")
_BEFORE_THE_JOB: Final = ("CapacityError", "ResourceLimitExceeded")
"""Kinds of faults that leave nothing to run."""
NO_ERROR_CODE: Final = {"ErrorDelaySeconds": "jobs of this platform have no error code"}
"""A setting that no job of SageMaker has a use for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WhatRuns:
    """What the rules of `Local` look at: hosts, data and time of a job whose request need not be valid."""

    hosts: Sequence[str] | None = None
    """The names of its hosts; None if they are not known."""
    types: Sequence[str] = ()
    """The instance types that it asks for."""
    peers: bool = False
    """True if it has several hosts."""
    pipes: bool = False
    """True if data comes through FIFOs."""
    spot: bool = False
    """True if its instances may be interrupted."""
    max_runtime: int
    """Seconds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ValidRequest:
    """What all kinds read of a document."""

    request: Any
    """Of the kind's own shape."""
    local: LocalSettings
    blocks: Mapping[str, Any]
    """The members of `Local` that only this kind has."""
    raw: dict[str, Any] = field(repr=False)
    """The request as it was given, without `Local` and without members that are null."""
    document: Document = field(repr=False)


class SharedReading(JobReading):
    """Reads the requests of one kind of job. What a hook does not decline or change is the same for all."""

    SHAPE: ClassVar[type[Structure]]
    """The request as files have it."""
    TABLE: ClassVar[MemberTable]
    """How each of its members is handled."""
    REQUIRED: ClassVar[Sequence[str]] = ()
    """Members that the service requires, and a file may leave out."""
    BLOCKS: ClassVar[Mapping[str, type[Structure]]] = {}
    """The members of `Local` that only this kind has."""
    ONLY_ANSWERED: ClassVar[frozenset[str]] = frozenset()
    """Members of the service's answer about such a job that its request does not have, but for the ARN."""
    TASK: ClassVar[str] = "run the job"
    """What is to be done here, in sentences."""

    @abstractmethod
    def made(self, valid: ValidRequest) -> AskedJob:
        """The valid job."""

    def read(self, document: Document, *, strict: bool, local_allowed: bool = True) -> AskedJob:
        """Validate a document. `strict` requires what the service requires. One error lists all mistakes."""
        return self.made(self.read_request(document, strict=strict, local_allowed=local_allowed))

    def read_named(
        self, document: Document, *, name: str | None, stem: str, strict: bool, local_allowed: bool = True
    ) -> tuple[AskedJob, str]:
        """The validated job, and its name; `stem` is that of its file."""
        if name is not None:
            document.set((self.NAME,), name)
        self.complete(document, strict=strict)
        job = self.read(document, strict=strict, local_allowed=local_allowed)
        return job, document.data.get(self.NAME) or self.new_name(stem, datetime.now().astimezone())

    def read_request(self, document: Document, *, strict: bool, local_allowed: bool = True) -> ValidRequest:
        """What is the same of all kinds. One error lists all mistakes."""
        if document.elsewhere is not None:
            from smlocal.sagemaker.jobfile.local_paths import refuse_local_paths  # few documents are not job files

            refuse_local_paths(document, self.SHAPE)
        request, raw, violations = self.validated(document, strict=strict)
        local, blocks, in_local = self.read_local(document, request, raw, allowed=local_allowed)
        not_done = self.refused_members(request, raw, () if local is None else local.Sources)
        violations += in_local
        if violations or request is None or local is None:
            invalid = invalid_request(document, violations + [violation for _, violation in not_done])
            raise self.explained(document, raw, invalid)
        if not_done:
            raise unsupported_request(document, not_done, table=self.TABLE, task=self.TASK)
        return ValidRequest(request=request, local=local, blocks=blocks, raw=raw, document=document)

    def validated(self, document: Document, *, strict: bool) -> tuple[Any, dict[str, Any], list[Violation]]:
        """The request, also as it was given without nulls, and what the service would refuse."""
        asked = {name: value for name, value in document.data.items() if name != LOCAL}
        shape = self.shape(strict=strict)
        request, violations = validate(shape, asked, strict=strict, written=document.written)
        raw: dict[str, Any] = without_nulls(asked)
        if strict:
            violations += [missing((name,)) for name in self.REQUIRED if raw.get(name) is None]
        violations += self.broken_rules(request, raw, strict=strict)
        return request, raw, violations

    def read_local(
        self, document: Document, request: Any, raw: Mapping[str, Any], *, allowed: bool = True
    ) -> tuple[LocalSettings | None, Mapping[str, Any], list[Violation]]:
        """The `Local` block with the members that only this kind has, or the mistakes in them."""
        given, blocks, found = document.data.get(LOCAL), dict[str, Any](), list[Violation]()
        shown = document
        if self.BLOCKS:
            own = given if isinstance(given, dict) else {}
            for name, shape in self.BLOCKS.items():
                blocks[name], wrong = validate(
                    shape, own.get(name) or {}, strict=False, path=(LOCAL, name), written=document.written
                )
                found += wrong
            if own.keys() & self.BLOCKS.keys():
                rest = {name: value for name, value in own.items() if name not in self.BLOCKS}
                shown = document.with_data({**document.data, LOCAL: rest})
        local, wrong = local_block.read_local(shown, allowed=allowed)
        found += wrong
        if local is not None:
            text = "is neither an s3:// prefix nor a file-system id; write s3://bucket/prefix"
            found += [wrong_source(key, text) for key in local.Sources if not _LOCATION.match(key)]
            found += without_meaning(local, self.REFUSED)
            if local.Region is not None and not is_region_name(local.Region):
                found.append(wrong_region(local.Region, "us-east-1"))
            found += self.broken_local_rules(local, request, raw)
        return local, blocks, found

    # What a kind may say in another way.

    def shape(self, *, strict: bool) -> type[Structure]:
        """The request; `strict`: as the service knows it."""
        del strict
        return self.SHAPE

    def remove_additions(self, taken: dict[str, Any]) -> None:
        """Take away what the service adds to members of the request in its answer; by default it adds nothing."""

    def complete(self, document: Document, *, strict: bool) -> None:
        """Add what is known here and a document only names; by default nothing is."""

    def new_name(self, stem: str, now: datetime) -> str:
        """A valid name, for a request without one."""
        return default_name(stem, now)

    def broken_rules(self, request: Any, raw: dict[str, Any], *, strict: bool) -> Iterable[Violation]:
        """What the members say together. `request`: None if a member is not valid."""
        del request, raw, strict
        return ()

    def broken_local_rules(self, local: LocalSettings, request: Any, raw: Mapping[str, Any]) -> list[Violation]:
        """What the settings say together with the request."""
        found = []
        if local.Faults and "Faults" not in self.REFUSED:
            wrong = partial(_wrong_fault, runs=self.what_runs(local, request, raw))
            found += fault_violations(local.Faults, kinds=FAULT_KINDS, wrong=wrong)
        if local.Placement != SPREAD and "Placement" not in self.REFUSED:
            hosts = self.what_runs(local, request, raw).hosts
            found += [] if hosts is None else placement_violations(local, hosts)
        if local.EngineInstances is not None and not local.SpreadOver:
            text = "Local.EngineInstances: needs the engines in Local.SpreadOver, or --spread-over"
            found.append(Violation(path=(LOCAL, "EngineInstances"), text=text))
        return found

    def what_runs(self, local: LocalSettings, request: Any, raw: Mapping[str, Any]) -> WhatRuns:
        """What faults and a placement are compared with. A kind that refuses both is not asked."""
        raise NotImplementedError

    def refused_members(
        self, request: Any, raw: Mapping[str, Any], sources: Collection[str] = ()
    ) -> list[tuple[str, Violation]]:
        """The members that are not supported here.

        `request`: None if it is not valid. `sources`: the keys of `Local.Sources`.
        """
        del request, sources
        return self.TABLE.refused(raw)

    def explained(self, document: Document, raw: dict[str, Any], invalid: RequestInvalidError) -> RequestInvalidError:
        """The error about a request that is not valid, in words that say more."""
        del document, raw
        return invalid


def without_nulls(value: Any) -> Any:
    """Remove null members, which must not be in the answer of describe."""
    if isinstance(value, dict):
        return {name: without_nulls(item) for name, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value


def request_in(document: Document) -> dict[str, Any]:
    """The request as it was given, without `Local` and without members that are null."""
    request: dict[str, Any] = without_nulls({name: item for name, item in document.data.items() if name != LOCAL})
    return request


def _wrong_fault(fault: Fault, runs: WhatRuns) -> Wrong:
    if fault.Kind in {"LateNames", "LateFifo"}:
        yield from _wrong_delay(fault, runs)
        return
    if fault.Kind in _BEFORE_THE_JOB:
        yield from _without_a_time(fault)
        if fault.Instance is not None and fault.Kind == "CapacityError" and fault.Instance not in runs.types:
            known = ", ".join(runs.types) or "no instance type"
            yield "Instance", f"the job does not ask for '{fault.Instance}'; it has {known}"
        return
    if fault.Kind == "Interrupt":
        if not runs.spot:
            text = "only spot instances are interrupted; set EnableManagedSpotTraining: true, or remove the fault"
            yield "Kind", text
        if fault.When != "During":
            yield "When", f"{fault.When} is for InternalError only; an interruption is always During training"
    yield from wrong_time(fault, longest=runs.max_runtime, limit="MaxRuntimeInSeconds")


def _wrong_delay(fault: Fault, runs: WhatRuns) -> Wrong:
    if fault.AfterSeconds < 1:
        yield "AfterSeconds", f"{fault.Kind} needs a delay of at least 1 second"
    if fault.When != "During":
        yield "When", f"{fault.When} is for InternalError only; remove it"
    if fault.Times != 1:
        yield "Times", f"{fault.Kind} happens in every attempt; remove it"
    if fault.Kind == "LateNames" and not runs.peers:
        yield "Kind", "a job of one host has no peers; set InstanceCount: 2, or remove the fault"
    if fault.Kind == "LateFifo" and not runs.pipes:
        yield "Kind", "no channel is in Pipe mode; set InputMode: Pipe, or remove the fault"


def _without_a_time(fault: Fault) -> Wrong:
    """Members that say nothing about a fault before any instance is there."""
    for member, usual in (("When", "During"), ("AfterSeconds", 0), ("Times", 1)):
        if getattr(fault, member) != usual:
            yield member, f"{fault.Kind} happens before any instance is there, and ends the job; remove it"


def unsupported_request(
    document: Document, found: list[tuple[str, Violation]], *, table: MemberTable, task: str = "run the job"
) -> FieldRefusedError:
    """One error for everything that is refused. `task`: what was to be done."""
    names = list(dict.fromkeys(name for name, _ in found))
    who = document.blamed(violation.path for _, violation in found)
    return FieldRefusedError(
        f"{who} uses fields that smlocal does not support: {', '.join(names)}",
        details=mistake_lines(document, [violation for _, violation in found]),
        remedy=[*_without_unsupported(names, table, task), "smlocal coverage shows how each field is handled."],
    )


def _without_unsupported(names: list[str], table: MemberTable, task: str) -> Iterator[str]:
    """What to change: to which value, if another is possible; a member that smlocal does not have must be removed."""
    whole = []
    for name in names:
        row = table.rows[name]
        possible = [word for word, value in row.values.items() if value.support is not Support.REFUSED]
        if possible:
            yield f"Use {' or '.join(possible)} for {name}."
        elif row.values or row.support is Support.REFUSED:
            whole.append(name)
        else:
            yield f"Change {name} to {task} here."
    if whole:
        yield f"Remove {'it' if names == whole[:1] else ', '.join(whole)} to {task} here."
