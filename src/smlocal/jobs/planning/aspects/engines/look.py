"""The engines that run the hosts of a job, as they are: which engine runs which host, and the size of its machine."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from smlocal.base.at_use import at_use
from smlocal.base.quick_dataclass import dataclass
from smlocal.engine.engines import Engines
from smlocal.engine.facts import EngineFacts, ImageFacts
from smlocal.engine.interface import Engine
from smlocal.errors import MachineNotReadyError
from smlocal.jobfile.settings import LocalSettings
from smlocal.jobs.planning.aspects.engines.plan import MachineFacts, engine_of_each
from smlocal.jobs.planning.model import JobPlan
from smlocal.terms.gpus import names_gpus

if TYPE_CHECKING:
    from smlocal.engine.networks import check_swarm
else:
    check_swarm = at_use("smlocal.engine.networks", "check_swarm")

_Answer = TypeVar("_Answer")


@dataclass(frozen=True, kw_only=True, slots=True)
class PlacedEngine:
    """An engine, and the names of the hosts that run on it."""

    engine: Engine
    facts: EngineFacts
    hosts: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class PlacedEngines:
    """The engines of one job."""

    each: tuple[PlacedEngine, ...]
    """Those that run a host, in their order."""
    manager: str = ""
    """With several engines: the address of the one that makes the network. It may run no host."""
    blind: EngineFacts | None = None
    """The first that does not see the folders of this machine; None if all see them, or if it is not known yet."""

    @property
    def first(self) -> PlacedEngine:
        """The only one, or the first."""
        return self.each[0]


@contextmanager
def about_engine(placed: PlacedEngines, each: PlacedEngine) -> Iterator[None]:
    """If there are several engines, an error says which of them it is about."""
    try:
        yield
    except MachineNotReadyError as error:
        if len(placed.each) > 1:
            which = f"this is about the engine at {each.facts.address} and its machine ({', '.join(each.hosts)})"
            error.details = (which, *error.details)
        raise


def with_facts(placed: PlacedEngines, facts: Callable[[PlacedEngine], EngineFacts]) -> PlacedEngines:
    """Replace the facts. Folders of this machine are mounted only if all engines of the job see them."""
    found = [facts(each) for each in placed.each]
    blind = next((each for each in found if not each.shares_folders), None)
    return replace(
        placed,
        blind=blind,
        each=tuple(
            replace(each, facts=known if blind is None else replace(known, shares_folders=False))
            for each, known in zip(placed.each, found, strict=True)
        ),
    )


def place_hosts(hosts: Sequence[str], local: LocalSettings, engines: Engines) -> PlacedEngines:
    """Ask the engines what they are, and give each its hosts."""
    if len(engines) == 1:
        only = PlacedEngine(engine=engines.first, facts=engines.first.facts(), hosts=tuple(hosts))
        return PlacedEngines(each=(only,))
    return _place_on_several(hosts, local, engines)


def place_as_before(plan: JobPlan, engines: Engines) -> PlacedEngines:
    """Give each engine the hosts that it has in an earlier plan of the job, whatever the names of engines mean now."""
    placed = []
    for address in (facts.address for facts in plan.engines.several or (plan.engines.first,)):
        hosts = tuple(host.host.name for host in plan.hosts if host.engine in {"", address})
        engine = engines.at(address)
        placed.append(PlacedEngine(engine=engine, facts=engine.facts(), hosts=hosts))
    return PlacedEngines(each=tuple(placed), manager="" if plan.network.own is None else plan.network.own.manager)


def _place_on_several(hosts: Sequence[str], local: LocalSettings, engines: Engines) -> PlacedEngines:
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
    """The answers of these engines, by their addresses. All of them are asked at the same time."""
    from concurrent.futures import ThreadPoolExecutor  # most jobs have one engine

    with ThreadPoolExecutor(max_workers=len(addresses)) as threads:
        return dict(zip(addresses, threads.map(lambda address: ask(engines.at(address)), addresses), strict=True))


def machine_facts(engine: EngineFacts) -> MachineFacts:
    """The size of the engine's machine, which may be another one."""
    if engine.cpus and (engine.desktop or not engine.local):
        return MachineFacts(cpus=engine.cpus, memory_mib=engine.memory_mib)
    return MachineFacts(cpus=os.cpu_count() or 1, memory_mib=memory_mib())


def memory_mib() -> int:
    """The memory of this machine, without what the kernel and the firmware reserve."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**20


def plain_runtime(engine: Engine, image: ImageFacts | None, requested: Mapping[str, str] | None) -> str | None:
    """As `AcceleratorFacts.plain_runtime`. The engine is asked only if the image or the request names GPUs."""
    variables = {**(image.environment if image is not None else {}), **(requested or {})}
    return engine.plain_runtime() if names_gpus(variables) else ""
