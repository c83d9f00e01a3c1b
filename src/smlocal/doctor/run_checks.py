"""Runs all checks, in the order in which a person would make them."""

from collections.abc import Collection, Iterator
from importlib import import_module
from threading import Thread

from smlocal.doctor.finding import Check, Finding, Severity, problem, unknown
from smlocal.doctor.machine import EngineUnavailableError, Machine
from smlocal.errors import SmlocalError

CHECKS = (
    *("engine", "version", "socket", "container", "storage", "overlay", "cgroup", "gpu", "shared_memory", "memory"),
    *("home", "disk", "fuse", "credentials", "region", "clock", "leftovers"),
)
"""The modules in `checks`."""
_TIMEOUT = 60.0


def run_checks(
    machine: Machine, needed: Collection[str] = (), *, timeout: float = _TIMEOUT
) -> Iterator[tuple[str, Finding]]:
    """Run one after the other. A warning of a `needed` check becomes a problem.

    A check that does not return within `timeout` seconds is a problem too.
    """
    for name in CHECKS:
        check: Check = import_module(f"smlocal.doctor.checks.{name}").check
        finding = _with_timeout(check, machine, timeout)
        yield name, finding.as_needed() if name in needed else finding


def _with_timeout(check: Check, machine: Machine, timeout: float) -> Finding:
    results: list[Finding | Exception] = []

    def run() -> None:
        try:
            results.append(_finding(check, machine))
        except Exception as error:  # noqa: BLE001 - raised again below
            results.append(error)

    thread = Thread(target=run, daemon=True)
    thread.start()
    thread.join(timeout)
    match results:
        case [Finding() as finding]:
            return finding
        case [Exception() as error]:
            raise error
    machine.stuck = True
    return problem(
        f"no answer within {timeout:.0f} s",
        "The engine (journalctl -u docker; sudo systemctl restart docker) or a network file system hangs.",
    )


def _finding(check: Check, machine: Machine) -> Finding:
    try:
        return check(machine)
    except EngineUnavailableError:
        return unknown("not checked: the engine is unreachable")
    except SmlocalError as error:
        return problem(". ".join((error.sentence.rstrip("."), *error.details)), *error.remedy)


def ready(findings: Collection[Finding]) -> bool:
    """True if jobs can run here."""
    return all(finding.severity is not Severity.PROBLEM for finding in findings)
