"""Which engine runs which host of a job."""

from collections.abc import Sequence

from smlocal.engine.engines import Engines
from smlocal.job.prepare.placed_engines import PlacedEngine, PlacedEngines
from smlocal.jobfile.settings import LocalSettings
from smlocal.planning.model import JobPlan


def place_hosts(hosts: Sequence[str], local: LocalSettings, engines: Engines) -> PlacedEngines:
    """Ask the engines what they are, and give each its hosts."""
    if len(engines) == 1:
        only = PlacedEngine(engine=engines.first, facts=engines.first.facts(), hosts=tuple(hosts))
        return PlacedEngines(each=(only,))
    from smlocal.job.prepare.swarm_placement import place_on_several  # most jobs have one engine

    return place_on_several(hosts, local, engines)


def place_as_before(plan: JobPlan, engines: Engines) -> PlacedEngines:
    """Give each engine the hosts that it has in an earlier plan of the job, whatever the names of engines mean now."""
    placed = []
    for address in (facts.address for facts in plan.engines or (plan.engine,)):
        hosts = tuple(host.host.name for host in plan.hosts if host.engine in {"", address})
        engine = engines.at(address)
        placed.append(PlacedEngine(engine=engine, facts=engine.facts(), hosts=hosts))
    return PlacedEngines(each=tuple(placed), manager="" if plan.network is None else plan.network.manager)
