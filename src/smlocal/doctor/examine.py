"""All questions, in the order in which a person would ask them."""

from collections.abc import Collection, Iterator
from importlib import import_module

from smlocal.doctor.interface import Check, Finding, Severity, problem, unknown
from smlocal.doctor.look import Look, NoEngineError
from smlocal.errors import SmlocalError

CHECKS = (
    *("engine", "version", "socket", "container", "storage", "overlay", "cgroup", "gpu", "shared_memory", "memory"),
    *("home", "disk", "fuse", "credentials", "region", "clock", "leftovers"),
)
"""Each has a module of its name in `checks`."""


def examine(look: Look, needed: Collection[str] = ()) -> Iterator[tuple[str, Finding]]:
    """Ask one after the other; what somebody needs is a problem where it would only be a warning."""
    for name in CHECKS:
        check: Check = import_module(f"smlocal.doctor.checks.{name}").check
        finding = _answer(check, look)
        yield name, finding.made_necessary() if name in needed else finding


def _answer(check: Check, look: Look) -> Finding:
    try:
        return check(look)
    except NoEngineError:
        return unknown("not looked at: no engine answers")
    except SmlocalError as error:
        return problem(". ".join((error.sentence.rstrip("."), *error.details)), *error.remedy)


def ready(findings: Collection[Finding]) -> bool:
    """True when a job can run here."""
    return all(finding.severity is not Severity.PROBLEM for finding in findings)
