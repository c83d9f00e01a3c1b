"""The engines that run the hosts of a job, and their machines."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from smlocal.base.quick_dataclass import dataclass
from smlocal.engine.facts import EngineFacts
from smlocal.jobs.planning.aspects.accelerators.plan import AcceleratorFacts
from smlocal.jobs.planning.aspects.limits.plan import LimitFacts
from smlocal.terms.hosts import Host
from smlocal.terms.placement import PlacementChoice


@dataclass(frozen=True, kw_only=True, slots=True)
class MachineFacts:
    """The size of a machine, and its devices."""

    cpus: int
    memory_mib: int
    accelerators: AcceleratorFacts = field(default_factory=AcceleratorFacts)
    limits: LimitFacts = field(default_factory=LimitFacts)


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineShare:
    """One of several engines of a job, with the hosts that run on it."""

    engine: EngineFacts
    machine: MachineFacts
    hosts: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class EnginesFacts:
    """The engines of a job, and their machines."""

    first: EngineFacts
    """The only one, or the first of several."""
    machine: MachineFacts
    """The machine of the first engine."""
    shares: tuple[EngineShare, ...] = ()
    """The shares of a job on several engines."""
    manager: str = ""
    """For a job on several engines: the address of the one that makes their network."""

    def groups(self, hosts: Sequence[Host]) -> Iterator[tuple[list[Host], MachineFacts]]:
        """The hosts of each machine."""
        if not self.shares:
            yield list(hosts), self.machine
        for share in self.shares:
            yield [host for host in hosts if host.name in share.hosts], share.machine

    def machine_of(self, host: str) -> MachineFacts:
        """The machine that a host runs on."""
        return next((share.machine for share in self.shares if host in share.hosts), self.machine)

    def address_of(self, host: str) -> str:
        """The address of a host's engine; empty for a job on one engine."""
        return next((share.engine.address for share in self.shares if host in share.hosts), "")


@dataclass(frozen=True, kw_only=True, slots=True)
class EnginesPlan:
    """The engines that run the hosts of a job, and their machines."""

    first: EngineFacts
    """The only one, or the first of several."""
    machine: MachineFacts
    """The machine of the first engine."""
    several: tuple[EngineFacts, ...] = ()
    """All engines of a job on several that run a host."""
    machines: tuple[MachineFacts, ...] = ()
    """Their machines, in the same order."""

    @property
    def each(self) -> tuple[EngineFacts, ...]:
        """All that run a host."""
        return self.several or (self.first,)

    @property
    def by_address(self) -> Mapping[str, MachineFacts]:
        """The machines of the engines, by the address of the engine."""
        if not self.several:
            return {self.first.address: self.machine}
        return {each.address: machine for each, machine in zip(self.several, self.machines, strict=True)}


def engine_of_each(hosts: Sequence[str], engines: Sequence[str], placement: PlacementChoice) -> Mapping[str, str]:
    """The engine of each host, as it is named in `engines`; they are spread in turn unless the placement names them.

    A placement that names engines has been validated: it names one for each host.
    """
    if not isinstance(placement, str):
        return {host: placement[host] for host in hosts}
    return {host: engines[index % len(engines)] for index, host in enumerate(hosts)}
