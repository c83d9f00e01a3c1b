"""What a check returns."""

from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING

from smlocal.quick_dataclass import dataclass

if TYPE_CHECKING:
    from smlocal.doctor.machine import Machine


class Severity(StrEnum):
    """How serious a finding is."""

    OK = "ok"
    WARNING = "warning"
    """Jobs run, but some kinds of jobs fail or are slow."""
    PROBLEM = "problem"
    """No job runs until this is fixed."""
    UNKNOWN = "unknown"
    """Not checked, because something else is missing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """A sentence, and what to do."""

    severity: Severity
    sentence: str
    remedy: tuple[str, ...] = ()

    def as_needed(self) -> "Finding":
        """The finding of a check named by --need: a warning is a problem."""
        return replace(self, severity=Severity.PROBLEM) if self.severity is Severity.WARNING else self


Check = Callable[["Machine"], Finding]
"""A `SmlocalError` that it raises becomes a problem with the remedy of the error."""


def fine(sentence: str) -> Finding:
    """Nothing to do."""
    return Finding(severity=Severity.OK, sentence=sentence)


def warning(sentence: str, *remedy: str) -> Finding:
    """Something is missing that only some jobs need."""
    return Finding(severity=Severity.WARNING, sentence=sentence, remedy=remedy)


def problem(sentence: str, *remedy: str) -> Finding:
    """Something is missing that every job needs."""
    return Finding(severity=Severity.PROBLEM, sentence=sentence, remedy=remedy)


def unknown(sentence: str) -> Finding:
    """Not checked."""
    return Finding(severity=Severity.UNKNOWN, sentence=sentence)
