"""Remove what a job has on several engines: the network last, because all containers have to leave it first."""

from collections.abc import Callable, Collection

from smlocal.base.parallel import run_parallel
from smlocal.engine.engines import Engines
from smlocal.engine.interface import Engine, ResourceKind

_BEFORE_NETWORKS = (ResourceKind.CONTAINER, ResourceKind.VOLUME)


def clear_several(
    engines: Engines, clear: Callable[[Engine, Collection[ResourceKind]], list[str]]
) -> dict[str, list[str]]:
    """Call `clear` for each engine and kind; returns what could not be removed, by the address of the engine."""
    failures: dict[str, list[str]] = {}

    def clear_kinds(address: str, kinds: Collection[ResourceKind]) -> None:
        failed = clear(engines.at(address), kinds)
        if failed:
            failures[address] = [*failures.get(address, ()), *failed]

    run_parallel(lambda address: clear_kinds(address, _BEFORE_NETWORKS), engines.addresses, at_once=len(engines))
    there = [address for address in engines.addresses if address not in failures]  # the others have just not answered
    # At the same time: a worker waits for what is removed on a manager.
    run_parallel(lambda address: clear_kinds(address, (ResourceKind.NETWORK,)), there, at_once=len(engines))
    return failures
