"""Remove the many things of a job with several hosts: the engine is slow at each, and does many at once."""

from collections.abc import Sequence
from contextlib import suppress
from threading import Thread

from smlocal.engine.interface import Engine, Resource, ResourceKind
from smlocal.errors import EngineError
from smlocal.job.host.parallel import side_by_side

_AT_ONCE = 8


def remove_at_once(engine: Engine, resources: Sequence[Resource]) -> list[str]:
    """Remove everything, containers before the volumes that they hold; what could not be removed, in words.

    A network takes the engine a sixth of a second, and may go before the containers that have ended on it.
    """
    left: list[str] = []

    def remove(resource: Resource) -> None:
        try:
            engine.remove(resource)
        except EngineError as error:
            if not error.status:
                raise
            left.append(f"{resource.kind} {resource.id} could not be removed: {error.sentence}")

    early = [Thread(target=_try, args=(engine, network)) for network in _of(ResourceKind.NETWORK, resources)]
    for thread in early:
        thread.start()
    for kind in (ResourceKind.CONTAINER, ResourceKind.VOLUME):
        side_by_side(remove, _of(kind, resources), at_once=_AT_ONCE)
    for thread in early:
        thread.join()
    for network in _of(ResourceKind.NETWORK, resources):
        remove(network)  # what is gone is fine
    return left


def _of(kind: ResourceKind, resources: Sequence[Resource]) -> list[Resource]:
    return [resource for resource in resources if resource.kind is kind]


def _try(engine: Engine, network: Resource) -> None:
    """A container that still runs keeps it: then it goes after that, and so it does after any other trouble."""
    with suppress(Exception):
        engine.remove(network)
