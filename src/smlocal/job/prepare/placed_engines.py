"""The engines that run the hosts of a job."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from smlocal.engine.interface import Engine
from smlocal.errors import MachineNotReadyError
from smlocal.planning.facts import EngineFacts
from smlocal.quick_dataclass import dataclass


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
