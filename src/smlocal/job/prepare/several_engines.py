"""The hosts of one job on several engines, which form one swarm."""

from collections.abc import Sequence

from smlocal.engine.engines import Engines
from smlocal.engine.swarm import check_swarm
from smlocal.job.host.parallel import run_parallel
from smlocal.job.prepare.placed_engines import PlacedEngine, PlacedEngines
from smlocal.jobfile.local_settings import LocalSettings
from smlocal.planning.placement import engine_of_each


def place_on_several(hosts: Sequence[str], local: LocalSettings, engines: Engines) -> PlacedEngines:
    """Place the hosts. If all of them are on one engine, the others need not even answer."""
    addresses = dict(zip(local.Engines, engines.addresses, strict=True))
    placement = {host: addresses[name] for host, name in engine_of_each(hosts, local.Engines, local.Placement).items()}
    used = [address for address in engines.addresses if address in placement.values()]
    facts = {}

    def ask(address: str) -> None:
        facts[address] = engines.at(address).facts()

    run_parallel(ask, used, at_once=len(used))
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
    found = {}

    def ask(address: str) -> None:
        found[address] = engines.at(address).swarm_member()

    run_parallel(ask, engines.addresses, at_once=len(engines))
    return check_swarm([found[address] for address in engines.addresses])
