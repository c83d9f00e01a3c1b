"""Which engine runs which host of a job."""

from collections.abc import Sequence

from smlocal.engine.engines import Engines
from smlocal.job.prepare.placed_engines import PlacedEngine, PlacedEngines
from smlocal.jobfile.local_settings import LocalSettings


def place_hosts(hosts: Sequence[str], local: LocalSettings, engines: Engines) -> PlacedEngines:
    """Ask the engines what they are, and give each its hosts."""
    if len(engines) == 1:
        only = PlacedEngine(engine=engines.first, facts=engines.first.facts(), hosts=tuple(hosts))
        return PlacedEngines(each=(only,))
    from smlocal.job.prepare.several_engines import place_on_several  # most jobs have one engine

    return place_on_several(hosts, local, engines)
