"""Listens at the credentials address: at the service's port 80 if this user may, else at a port of the job's own."""

import errno
import socket
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager

from smlocal.base.quick_dataclass import dataclass
from smlocal.engine.interface import CREDENTIALS_LABEL, Engine, Resource, ResourceKind
from smlocal.errors import CredentialsUnreachableError, EngineError
from smlocal.jobs.credentials.http_messages import MAX_HEAD_BYTES, SERVER
from smlocal.jobs.planning.aspects.network.asked import overlaps

PORT = 80
"""The port that clients use with AWS_CONTAINER_CREDENTIALS_RELATIVE_URI. The jobs of one user share it."""
_BACKLOG = 128
_ADDRESS_SECONDS = 5.0
_CHECK_SECONDS = 10.0
_NOT_ALLOWED = {errno.EACCES, errno.EPERM, errno.EADDRINUSE}


@dataclass(frozen=True, kw_only=True, slots=True)
class Listener:
    """A listening socket."""

    socket: socket.socket
    port: int

    @property
    def shared(self) -> bool:
        """True if all jobs of one user share the port."""
        return self.port == PORT


def open_listener(port: int, make_address: Callable[[], None]) -> Listener | None:
    """Listen at a port (0: any); None if port 80 is not allowed or taken. `make_address` is called if it is missing."""
    try:
        bound = _bind(port, make_address)
    except OSError as error:
        if port == PORT and error.errno in _NOT_ALLOWED:
            return None
        raise unreachable(error.strerror or str(error)) from error
    return Listener(socket=bound, port=bound.getsockname()[1])


def has_address() -> bool:
    """True if this machine has the address."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as trial:
        try:
            trial.bind((ADDRESS, 0))
        except OSError as error:
            return error.errno != errno.EADDRNOTAVAIL
        return True


def is_reached(listener: Listener) -> bool:
    """Send a request, and check that smlocal answers: this job, or another one that shares the port.

    Port 80 of this address may be redirected to another program, for example to the agent of Amazon ECS.
    """
    try:
        with socket.create_connection((ADDRESS, listener.port), timeout=_CHECK_SECONDS) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: smlocal\r\n\r\n")
            with client.makefile("rb") as answer:
                return f"\r\nServer: {SERVER}\r\n".encode() in answer.read(MAX_HEAD_BYTES)
    except OSError:
        return False


def _bind(port: int, make_address: Callable[[], None]) -> socket.socket:
    until = time.monotonic() + _ADDRESS_SECONDS
    while True:
        bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if port == PORT:
                bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            bound.bind((ADDRESS, port))
            bound.listen(_BACKLOG)
        except OSError as error:
            bound.close()
            if error.errno != errno.EADDRNOTAVAIL or time.monotonic() > until:
                raise
            make_address()  # another job has just removed it
            time.sleep(0.02)
        else:
            return bound


def unreachable(why: str) -> CredentialsUnreachableError:
    """The error if this machine cannot serve credentials."""
    return CredentialsUnreachableError(
        f"this machine cannot listen at {ADDRESS}, the address of the containers' credentials",
        details=(why,),
        remedy=(
            "This needs a Docker engine on this machine, not rootless and not in a virtual machine.",
            "Or run without credentials: --credentials none",
        ),
    )


# The address 169.254.170.2 on this machine, where every AWS client in a container asks for credentials.
#
# It is the gateway of a bridge network of the engine, so no root is needed. Every container with a route to this
# machine reaches it without being attached to that network. All jobs share the network. Each job marks its use with a
# volume, and the last job removes the network.

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

    The address is removed first: after a crash in between, the mark still shows the leftovers. If a job has begun in
    the meantime, the address is made again, and that job cannot be reached for a moment.
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
