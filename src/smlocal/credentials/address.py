"""The address 169.254.170.2 on this machine, where every AWS client in a container looks for credentials.

A bridge network of the engine whose own address it is brings it about, for users of the docker group too: whoever has a
route to this machine reaches it, so no container need be attached, and none has one interface more. All jobs share the
network. Each has a volume as a mark that it uses it; the last one to go removes it.
"""

import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

from smlocal.engine.interface import CREDENTIALS_LABEL, Engine, Resource, ResourceKind
from smlocal.errors import CredentialsUnreachableError, EngineError
from smlocal.planning.network import overlaps

ADDRESS = "169.254.170.2"
NETWORK = "smlocal-credentials"
_SUBNET = "169.254.170.0/30"
_LABELS = {CREDENTIALS_LABEL: "network"}
"""Not that of a job: it belongs to all who have a mark."""
_EXISTS = 409
_MAKING_SECONDS = 10.0


def claim(engine: Engine, mark: str, labels: Mapping[str, str]) -> None:
    """Have the address, and say that a job uses it; to do so twice does no harm."""
    engine.create_volume(mark, {**labels, CREDENTIALS_LABEL: "mark"}, {})
    _make_network(engine)


@contextmanager
def giving_back(engine: Engine, marks: Collection[str]) -> Iterator[None]:
    """Take the address away, unless others use it, while the marks are removed.

    Before them, so that a crash leaves a mark by which the rest is found. A job that came meanwhile finds its listener
    deaf for a moment: it is given the address again.
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
        # Two who remove it at once: the second is told that it is unknown, by an error of the engine's own.
        if not error.status or _is_there(engine):
            raise


def _is_there(engine: Engine) -> bool:
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
            # Another job may be making it, or removing it, at this moment: the addresses are taken, and by no network.
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
