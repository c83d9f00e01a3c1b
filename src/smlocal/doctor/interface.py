"""What a question about the machine is, and what its answer looks like."""

from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING

from smlocal.quick_dataclass import dataclass

if TYPE_CHECKING:
    from smlocal.doctor.look import Look


class Severity(StrEnum):
    """How much an answer matters."""

    OK = "ok"
    WARNING = "warning"
    """Jobs run; some kinds of them do not, or not as well."""
    PROBLEM = "problem"
    """No job runs until this is mended."""
    UNKNOWN = "unknown"
    """Not looked at, because something else is missing first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One answer: a sentence, and what to do where something is to be done."""

    severity: Severity
    sentence: str
    remedy: tuple[str, ...] = ()

    def made_necessary(self) -> "Finding":
        """The same where somebody needs it: a warning is a problem then."""
        return replace(self, severity=Severity.PROBLEM) if self.severity is Severity.WARNING else self


Check = Callable[["Look"], Finding]
"""Looks at one thing. An error of ours that it raises becomes a problem, with the error's own remedy."""


def fine(sentence: str) -> Finding:
    """All is well."""
    return Finding(severity=Severity.OK, sentence=sentence)


def warning(sentence: str, *remedy: str) -> Finding:
    """Something that not every job needs."""
    return Finding(severity=Severity.WARNING, sentence=sentence, remedy=remedy)


def problem(sentence: str, *remedy: str) -> Finding:
    """Something that every job needs."""
    return Finding(severity=Severity.PROBLEM, sentence=sentence, remedy=remedy)


def unknown(sentence: str) -> Finding:
    """Not looked at."""
    return Finding(severity=Severity.UNKNOWN, sentence=sentence)
