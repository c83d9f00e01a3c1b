"""All questions, in the order in which a person would ask them."""

from collections.abc import Collection, Iterator
from importlib import import_module
from threading import Thread

from smlocal.doctor.interface import Check, Finding, Severity, problem, unknown
from smlocal.doctor.look import Look, NoEngineError
from smlocal.errors import SmlocalError

CHECKS = (
    *("engine", "version", "socket", "container", "storage", "overlay", "cgroup", "gpu", "shared_memory", "memory"),
    *("home", "disk", "fuse", "credentials", "region", "clock", "leftovers"),
)
"""Each has a module of its name in `checks`."""
_PATIENCE = 60.0


def examine(look: Look, needed: Collection[str] = (), *, patience: float = _PATIENCE) -> Iterator[tuple[str, Finding]]:
    """Ask one after the other; what somebody needs is a problem where it would only be a warning.

    A machine in trouble may well leave a question without an answer: it is given so many seconds.
    """
    for name in CHECKS:
        check: Check = import_module(f"smlocal.doctor.checks.{name}").check
        finding = _in_time(check, look, patience)
        yield name, finding.made_necessary() if name in needed else finding


def _in_time(check: Check, look: Look, patience: float) -> Finding:
    answers: list[Finding | Exception] = []

    def ask() -> None:
        try:
            answers.append(_answer(check, look))
        except Exception as error:  # noqa: BLE001 - a defect, to be met by whoever asked
            answers.append(error)

    thread = Thread(target=ask, daemon=True)
    thread.start()
    thread.join(patience)
    match answers:
        case [Finding() as finding]:
            return finding
        case [Exception() as error]:
            raise error
    look.stuck = True
    return problem(
        f"no answer within {patience:.0f} s",
        "The engine (journalctl -u docker; sudo systemctl restart docker) or a network file system hangs.",
    )


def _answer(check: Check, look: Look) -> Finding:
    try:
        return check(look)
    except NoEngineError:
        return unknown("not checked: the engine is unreachable")
    except SmlocalError as error:
        return problem(". ".join((error.sentence.rstrip("."), *error.details)), *error.remedy)


def ready(findings: Collection[Finding]) -> bool:
    """True when a job can run here."""
    return all(finding.severity is not Severity.PROBLEM for finding in findings)
