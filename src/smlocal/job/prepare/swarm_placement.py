"""The hosts of one job on several engines, which form one swarm."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from smlocal.base.parallel import run_parallel
from smlocal.engine.engines import Engines
from smlocal.engine.interface import Engine
from smlocal.engine.swarm import check_swarm
from smlocal.job.prepare.placed_engines import PlacedEngine, PlacedEngines
from smlocal.jobfile.settings import LocalSettings
from smlocal.planning.placement import engine_of_each

_Answer = TypeVar("_Answer")


def place_on_several(hosts: Sequence[str], local: LocalSettings, engines: Engines) -> PlacedEngines:
    """Place the hosts. If all of them are on one engine, the others need not even answer."""
    addresses = dict(zip(local.Engines, engines.addresses, strict=True))
    placement = {host: addresses[name] for host, name in engine_of_each(hosts, local.Engines, local.Placement).items()}
    used = [address for address in engines.addresses if address in placement.values()]
    facts = _answers(engines, used, lambda engine: engine.facts())
    placed = tuple(
        PlacedEngine(
            engine=engines.at(address),
            facts=facts[address],
            hosts=tuple(host for host in hosts if placement[host] == address),
        )
        for address in used
    )
    return PlacedEngines(each=placed, manager=_manager(engines) if len(used) > 1 else "")


def _manager(engines: Engines) -> str:
    """Ask all engines for their swarm; returns the address of a manager."""
    members = _answers(engines, engines.addresses, lambda engine: engine.swarm_member())
    return check_swarm([members[address] for address in engines.addresses])


def _answers(engines: Engines, addresses: Sequence[str], ask: Callable[[Engine], _Answer]) -> dict[str, _Answer]:
    """What these engines answer, by their addresses. All of them are asked at the same time."""
    answers = {}

    def ask_one(address: str) -> None:
        answers[address] = ask(engines.at(address))

    run_parallel(ask_one, addresses, at_once=len(addresses))
    return answers
