"""Runs all checks, in the order in which a person would make them."""

from collections.abc import Collection, Iterator
from threading import Thread

from smlocal.doctor import checks, place
from smlocal.doctor.judgement import Check, Judgement, Readiness, problem, unknown
from smlocal.doctor.machine import EngineUnavailableError, Machine
from smlocal.errors import SmlocalError

CHECKS: dict[str, Check] = {
    "smlocal": checks.check_smlocal,
    "engine": checks.check_engine,
    "place": place.check_place,
    "version": checks.check_version,
    "socket": checks.check_socket,
    "container": checks.check_container,
    "storage": checks.check_storage,
    "overlay": checks.check_overlay,
    "cgroup": checks.check_cgroup,
    "gpu": checks.check_gpu,
    "shared_memory": checks.check_shared_memory,
    "memory": checks.check_memory,
    "home": checks.check_home,
    "disk": checks.check_disk,
    "fuse": checks.check_fuse,
    "credentials": checks.check_credentials,
    "region": checks.check_region,
    "clock": checks.check_clock,
    "leftovers": checks.check_leftovers,
}
_TIMEOUT = 60.0


def run_checks(
    machine: Machine, needed: Collection[str] = (), *, timeout: float = _TIMEOUT
) -> Iterator[tuple[str, Judgement]]:
    """Run one after the other. A warning of a `needed` check becomes a problem.

    A check that does not return within `timeout` seconds is a problem too.
    """
    for name, check in CHECKS.items():
        judgement = _with_timeout(check, machine, timeout)
        if judgement is not None:
            yield name, judgement.as_needed() if name in needed else judgement


def _with_timeout(check: Check, machine: Machine, timeout: float) -> Judgement | None:
    results: list[Judgement | Exception | None] = []

    def run() -> None:
        try:
            results.append(_judged(check, machine))
        except Exception as error:  # noqa: BLE001 - raised again below
            results.append(error)

    thread = Thread(target=run, daemon=True)
    thread.start()
    thread.join(timeout)
    match results:
        case [Judgement() | None as judgement]:
            return judgement
        case [Exception() as error]:
            raise error
    machine.stuck = True
    return problem(
        f"no answer within {timeout:.0f} s",
        "The engine (journalctl -u docker; sudo systemctl restart docker) or a network file system hangs.",
    )


def _judged(check: Check, machine: Machine) -> Judgement | None:
    try:
        return check(machine)
    except EngineUnavailableError:
        return unknown("not checked: the engine is unreachable")
    except SmlocalError as error:
        return problem(". ".join((error.sentence.rstrip("."), *error.details)), *error.remedy)


def ready(judgements: Collection[Judgement]) -> bool:
    """True if jobs can run here."""
    return all(judgement.severity is not Readiness.PROBLEM for judgement in judgements)
