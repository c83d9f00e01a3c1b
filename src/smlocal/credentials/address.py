"""The address 169.254.170.2 on this machine, where every AWS client in a container asks for credentials.

It is the gateway of a bridge network of the engine, so no root is needed. Every container with a route to this machine
reaches it without being attached to that network. All jobs share the network. Each job marks its use with a volume, and
the last job removes the network.
"""

import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

from smlocal.engine.interface import CREDENTIALS_LABEL, Engine, Resource, ResourceKind
from smlocal.errors import CredentialsUnreachableError, EngineError
from smlocal.planning.aspects.network.asked import overlaps

ADDRESS = "169.254.170.2"
NETWORK = "smlocal-credentials"
_SUBNET = "169.254.170.0/30"
_LABELS = {CREDENTIALS_LABEL: "network"}
"""Without the label of a job: the network belongs to all jobs that have a mark."""
_EXISTS = 409
_MAKING_SECONDS = 10.0


def use_address(engine: Engine, mark: str, labels: Mapping[str, str]) -> None:
    """Make the address and mark that a job uses it. It may be called twice."""
    engine.create_volume(mark, {**labels, CREDENTIALS_LABEL: "mark"}, {})
    _make_network(engine)


@contextmanager
def released(engine: Engine, marks: Collection[str]) -> Iterator[None]:
    """Remove the address unless other jobs use it. The caller removes the marks inside the `with` block.

    The address is removed first: after a crash in between, the mark still shows what is left. If a job has begun in the
    meantime, the address is made again, and nobody reaches that job for a moment.
    """
    if not _marks(engine) - set(marks):
        _remove_network(engine)
    yield
    if _marks(engine):
        _make_network(engine)


def _remove_network(engine: Engine) -> None:
    try:
        engine.remove(Resource(kind=ResourceKind.NETWORK, id=NETWORK))
    except EngineError as error:
        # If two jobs remove it at once, the engine reports to the second that it does not know the network.
        if not error.status or _exists(engine):
            raise


def _exists(engine: Engine) -> bool:
    return any(network.name == NETWORK for network in engine.networks())


def _make_network(engine: Engine) -> None:
    until = time.monotonic() + _MAKING_SECONDS
    while True:
        try:
            engine.create_network(NETWORK, _LABELS, subnet=_SUBNET, gateway=ADDRESS)
        except EngineError as error:
            if not error.status:
                raise
            networks = engine.networks()
            if error.status == _EXISTS or any(network.name == NETWORK for network in networks):
                return
            # While another job makes or removes it, its addresses are taken although no network is listed.
            if any(overlaps(_SUBNET, network.subnets) for network in networks) or time.monotonic() > until:
                raise _refused(error) from error
            time.sleep(0.05)
        else:
            return


def _refused(error: EngineError) -> CredentialsUnreachableError:
    return CredentialsUnreachableError(
        f"the engine cannot create a network with {ADDRESS}, the address of the containers' credentials",
        details=(error.sentence,),
        remedy=(
            "Does another network use it?  docker network inspect $(docker network ls -q) | grep 169.254.170",
            "Or run without credentials: --credentials none",
        ),
    )


def _marks(engine: Engine) -> set[str]:
    return {
        resource.id
        for resource in engine.owned()
        if resource.kind is ResourceKind.VOLUME and CREDENTIALS_LABEL in resource.labels
    }
