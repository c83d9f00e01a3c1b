"""Validate the settings of `Local` about engines: which ones, and which host runs where."""

from collections.abc import Iterator, Sequence
from typing import Final

from smlocal.contract.hosts import listed
from smlocal.contract.validation.member_path import Path, spoken
from smlocal.contract.validation.suggestions import closest
from smlocal.contract.validation.violation import Violation
from smlocal.jobfile.settings import LocalSettings

_SCHEMES: Final = ("unix", "tcp", "http", "https", "ssh")
_ENGINES: Final = ("Local", "Engines")
_PLACEMENT: Final = ("Local", "Placement")


def engine_violations(local: LocalSettings) -> list[Violation]:
    """What is wrong with the engines, and with a placement on them."""
    return [*_engines(local.Engines), *_placement(local)]


def placement_violations(local: LocalSettings, hosts: Sequence[str]) -> list[Violation]:
    """What is wrong with a placement of these hosts: it names every one of them, and no other."""
    if isinstance(local.Placement, str):
        return []
    found = [
        _says((*_PLACEMENT, host), f"the job has no host '{host}'; it has {listed(hosts)}")
        for host in local.Placement
        if host not in hosts
    ]
    missing = [host for host in hosts if host not in local.Placement]
    if missing:
        others = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        found.append(_says(_PLACEMENT, f"no engine is given for {missing[0]}{others}"))
    return found


def _engines(engines: Sequence[str]) -> Iterator[Violation]:
    for index, engine in enumerate(engines):
        place = (*_ENGINES, index)
        scheme, separator, _ = engine.partition("://")
        if not engine.strip():
            yield _says(place, "is empty; write an address such as ssh://HOST, or the name of a Docker context")
        elif separator and scheme not in _SCHEMES:
            what = "a Windows pipe" if scheme == "npipe" else f"an engine over {scheme}://"
            yield _says(place, f"'{engine}' is {what}: smlocal supports unix://, tcp:// and ssh://")
        elif engine in engines[:index]:
            yield _says(place, f"'{engine}' is in the list twice")


def _placement(local: LocalSettings) -> Iterator[Violation]:
    if isinstance(local.Placement, str):
        return
    if not local.Engines:
        yield _says(_PLACEMENT, "needs the engines in Local.Engines, or --engine")
        return
    for host, engine in local.Placement.items():
        if engine not in local.Engines:
            meant = closest(engine, local.Engines)
            said = f"did you mean '{meant}'?" if meant else f"it has {', '.join(local.Engines)}"
            yield _says((*_PLACEMENT, host), f"'{engine}' is not in Local.Engines; {said}")


def _says(path: Path, text: str) -> Violation:
    return Violation(path=path, text=f"{spoken(path)}: {text}")
