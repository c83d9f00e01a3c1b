"""A job file of this platform: its request, or one error with everything that is wrong."""

from collections.abc import Iterator
from dataclasses import field
from typing import Any

from smlocal.contract.support import Support
from smlocal.contract.validation.violation import Violation
from smlocal.errors import FieldRefusedError
from smlocal.jobfile.document import Document
from smlocal.jobfile.refusal import invalid_request, mistake_lines
from smlocal.jobfile.settings import LocalSettings
from smlocal.platforms.ai_platform.coverage.lookup import table
from smlocal.platforms.ai_platform.jobfile.local_block import read_local
from smlocal.platforms.ai_platform.model.members import JobKind
from smlocal.platforms.ai_platform.request_reading import read_request
from smlocal.quick_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class JobFile:
    """A valid job file."""

    kind: JobKind
    request: dict[str, Any] = field(repr=False)
    """The whole Job or CustomJob, with the members' own names, and whole numbers as numbers."""
    local: LocalSettings
    document: Document = field(repr=False)


def read_job(document: Document, *, strict: bool, local_allowed: bool = True) -> JobFile:
    """Validate a document. `strict` requires what the services require. One error lists all mistakes."""
    reading = read_request(document.data, strict=strict)
    valid = not reading.violations and not reading.refused
    local, in_local = read_local(document, reading.kind, reading.request if valid else None, allowed=local_allowed)
    violations = reading.violations + in_local
    if violations or local is None:
        invalid = invalid_request(document, violations + [violation for _, violation in reading.refused])
        from smlocal.platforms.ai_platform.comparison import is_answer  # only after a mistake

        if is_answer(document.data):
            invalid.remedy = (f"This is the description of a job. Its job file:  smlocal init {document.name}",)
        raise invalid
    if reading.refused:
        raise _unsupported(document, reading.kind, reading.refused)
    return JobFile(kind=reading.kind, request=reading.request, local=local, document=document)


def _unsupported(document: Document, kind: JobKind, found: list[tuple[str, Violation]]) -> FieldRefusedError:
    names = list(dict.fromkeys(name for name, _ in found))
    who = document.blamed(violation.path for _, violation in found)
    return FieldRefusedError(
        f"{who} uses what smlocal does not support: {', '.join(names)}",
        details=mistake_lines(document, [violation for _, violation in found]),
        remedy=[*_remedies(kind, names), "docs/ai-platform-coverage.md shows how each member is handled."],
    )


def _remedies(kind: JobKind, names: list[str]) -> Iterator[str]:
    whole = [name for name in names if table(kind)[name].support is Support.REFUSED]
    yield from (f"Use another value for {name}." for name in names if name not in whole)
    if whole:
        yield f"Remove {'it' if names == whole[:1] else ', '.join(whole)} to run the job here."
