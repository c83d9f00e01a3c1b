"""An engine by its address, and the engines of one job."""

from collections.abc import Collection, Iterable, Iterator

from smlocal.engine.client import place_at
from smlocal.engine.docker import DockerEngine
from smlocal.engine.endpoint import EngineAddress, endpoint_at, endpoint_named, find_endpoint
from smlocal.engine.interface import Engine
from smlocal.errors import EngineTwiceError


def engine_at(endpoint: EngineAddress) -> DockerEngine:
    """The engine at this address. Nothing is sent yet."""
    place = place_at(endpoint)
    if place is None:
        return DockerEngine(endpoint)
    from smlocal.engine.place_engine import PlaceEngine  # for few users

    return PlaceEngine(endpoint, place)


def connect() -> DockerEngine:
    """Find the engine. The first call shows whether it answers."""
    return engine_at(find_endpoint())


def connect_to(address: str) -> DockerEngine:
    """The engine that a job ran on, which may differ from the one for new jobs."""
    return engine_at(endpoint_at(address))


class Engines:
    """Engines by address, in the order in which they were named."""

    def __init__(self, engines: dict[str, Engine]) -> None:
        """Hold at least one engine."""
        self._engines = engines

    @property
    def first(self) -> Engine:
        """The engine that was named first."""
        return next(iter(self))

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses of all engines."""
        return tuple(self._engines)

    def at(self, address: str) -> Engine:
        """The engine at this address, as its facts have it; for an empty address, the first one."""
        return self._engines[address] if address else self.first

    def only(self, addresses: Collection[str]) -> "Engines":
        """Those with these addresses."""
        return Engines({address: each for address, each in self._engines.items() if address in addresses})

    def __iter__(self) -> Iterator[Engine]:
        return iter(self._engines.values())

    def __len__(self) -> int:
        return len(self._engines)


def engines_named(names: Iterable[str]) -> Engines:
    """Engines by address or by Docker context; without names, the one that the docker command uses. Nothing is sent."""
    found: dict[str, tuple[str, EngineAddress]] = {}
    for name in names:
        endpoint = endpoint_named(name)
        earlier, known = found.setdefault(endpoint.address, (name, endpoint))
        if known is not endpoint:
            raise EngineTwiceError(
                f'the engines "{earlier}" and "{name}" are the same one, at {endpoint.address}',
                remedy=("Name each engine once.",),
            )
    return _connected([endpoint for _, endpoint in found.values()] or [find_endpoint()])


def engines_at(addresses: Iterable[str]) -> Engines:
    """The engines that a job ran on, by their addresses."""
    return _connected(endpoint_at(address) for address in addresses)


def _connected(endpoints: Iterable[EngineAddress]) -> Engines:
    return Engines({endpoint.address: engine_at(endpoint) for endpoint in endpoints})
