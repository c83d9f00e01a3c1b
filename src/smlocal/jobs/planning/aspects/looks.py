"""The aspects that few jobs have: which settings and members of a request bring each in. Its look is imported then."""

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Final, Protocol, cast

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobfile.document import Document
from smlocal.jobfile.settings import LocalSettings
from smlocal.jobs.planning.aspects.accelerators.plan import neuron_devices, wants_gpus
from smlocal.jobs.planning.aspects.engines.look import PlacedEngine, machine_facts
from smlocal.jobs.planning.aspects.engines.plan import MachineFacts
from smlocal.jobs.planning.aspects.limits.plan import wants_limits
from smlocal.terms.hosts import Host


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """The job's demands on the machine of one engine."""

    hosts: tuple[Host, ...]
    """Those that run there."""
    local: LocalSettings
    document: Document
    image: str
    required: bool = True
    """False if the job is only planned: then missing parts are not an error."""
    before: MachineFacts | None = None
    """The facts that an earlier plan of the job has found there."""


class Look(Protocol):
    """A module that looks at a machine for one aspect of a job."""

    def examine(self, asked: Asked, placed: PlacedEngine, machine: MachineFacts, *, home: str) -> MachineFacts:
        """The facts with those of the aspect, found before the image is pulled. Missing parts are an error."""
        ...

    def try_out(self, asked: Asked, placed: PlacedEngine, machine: MachineFacts) -> None:
        """Have the engine start containers of the image, for facts that can only be tried."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Aspect:
    """An aspect that few jobs have."""

    name: str
    """The name of its folder."""
    brought_in_by: str
    wanted: Callable[[Asked], bool]

    @property
    def look(self) -> Look:
        """Its look at the machine."""
        return cast("Look", import_module(f"smlocal.jobs.planning.aspects.{self.name}.look"))


ASPECTS: Final = (
    Aspect(
        name="accelerators",
        brought_in_by="Local.Gpus, and machine types with GPUs or Neuron devices",
        wanted=lambda asked: wants_gpus(asked.hosts, asked.local) or any(neuron_devices(asked.hosts, asked.local)),
    ),
    Aspect(
        name="debugging",
        brought_in_by="Local.DebugPort",
        wanted=lambda asked: asked.local.DebugPort != 0,
    ),
    Aspect(
        name="limits",
        brought_in_by="Local.EnforceInstanceLimits, Memory, Cpus, ShmSize, Ulimits, Processes",
        wanted=lambda asked: wants_limits(asked.local),
    ),
)


def examined(asked: Asked, placed: PlacedEngine, *, home: str) -> MachineFacts:
    """The machine of an engine, with the facts of all aspects that the job has."""
    machine = machine_facts(placed.facts)
    for look in _looks(asked):
        machine = look.examine(asked, placed, machine, home=home)
    return machine


def try_out(asked: Asked, placed: PlacedEngine, machine: MachineFacts) -> None:
    """Try whether the engine gives its containers things that can only be tried: GPUs, Neuron devices and ulimits."""
    for look in _looks(asked):
        look.try_out(asked, placed, machine)


def _looks(asked: Asked) -> Iterator[Look]:
    return (aspect.look for aspect in ASPECTS if aspect.wanted(asked))
