"""The address 169.254.170.2 on this machine, where every AWS client in a container looks for credentials.

A bridge network of the engine whose own address it is brings it about, for users of the docker group too: whoever has a
route to this machine reaches it, so no container need be attached, and none has one interface more. All jobs share the
network. Each has a volume as a mark that it uses it; the last one to go removes it.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

from smlocal.engine.interface import CREDENTIALS_LABEL, Engine, Resource, ResourceKind
from smlocal.errors import CredentialsUnreachableError, EngineError

ADDRESS = "169.254.170.2"
NETWORK = "smlocal-credentials"
_SUBNET = "169.254.170.0/30"
_LABELS = {CREDENTIALS_LABEL: "network"}
"""Not that of a job: it belongs to all who have a mark."""
_EXISTS = 409


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
        engine.remove(Resource(kind=ResourceKind.NETWORK, id=NETWORK))
    yield
    if _marks(engine):
        _make_network(engine)


def _make_network(engine: Engine) -> None:
    try:
        engine.create_network(NETWORK, _LABELS, subnet=_SUBNET, gateway=ADDRESS)
    except EngineError as error:
        if error.status == _EXISTS:
            return
        if not error.status:
            raise
        raise CredentialsUnreachableError(
            f"the engine does not make a network with the address {ADDRESS}, where containers look for credentials",
            details=(error.sentence,),
            remedy=(
                "Does another network have it?  docker network inspect $(docker network ls -q) | grep 169.254.170",
                "Or run without credentials: --credentials none",
            ),
        ) from error


def _marks(engine: Engine) -> set[str]:
    return {
        resource.id
        for resource in engine.owned()
        if resource.kind is ResourceKind.VOLUME and CREDENTIALS_LABEL in resource.labels
    }
