"""The result of a check."""

from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum

from smlocal.base.quick_dataclass import dataclass
from smlocal.doctor.machine import Machine


class Readiness(StrEnum):
    """How serious a finding is."""

    OK = "ok"
    WARNING = "warning"
    """Jobs run, but some kinds of jobs fail or are slow."""
    PROBLEM = "problem"
    """No job runs until this is fixed."""
    UNKNOWN = "unknown"
    """Not checked, because something else is missing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    """A sentence, and its remedy."""

    severity: Readiness
    sentence: str
    remedy: tuple[str, ...] = ()

    def as_needed(self) -> "Judgement":
        """The finding of a check named by --need: a warning is a problem."""
        return replace(self, severity=Readiness.PROBLEM) if self.severity is Readiness.WARNING else self


Check = Callable[["Machine"], Judgement | None]
"""A `SmlocalError` that it raises becomes a problem with the remedy of the error. None: there is nothing to check."""


def fine(sentence: str) -> Judgement:
    """Nothing to do."""
    return Judgement(severity=Readiness.OK, sentence=sentence)


def warning(sentence: str, *remedy: str) -> Judgement:
    """Something is missing that only some jobs need."""
    return Judgement(severity=Readiness.WARNING, sentence=sentence, remedy=remedy)


def problem(sentence: str, *remedy: str) -> Judgement:
    """Something is missing that every job needs."""
    return Judgement(severity=Readiness.PROBLEM, sentence=sentence, remedy=remedy)


def unknown(sentence: str) -> Judgement:
    """Not checked."""
    return Judgement(severity=Readiness.UNKNOWN, sentence=sentence)
