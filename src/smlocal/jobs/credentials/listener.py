"""Listens at the credentials address, at the service's port 80 if this user may; its requests and responses."""

import errno
import json
import os
import secrets
import socket
import struct
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import field
from datetime import UTC, datetime
from hashlib import sha256
from hmac import compare_digest

from smlocal.base.quick_dataclass import dataclass
from smlocal.data.sources.s3.aws_session import Credentials
from smlocal.engine.interface import CREDENTIALS_LABEL, Engine, Resource, ResourceKind
from smlocal.errors import CredentialsUnreachableError, EngineError
from smlocal.jobs.planning.aspects.network.plan import overlaps

SERVER = "smlocal"
MAX_HEAD_BYTES = 8192
"""The most bytes of the head of a request."""
ASSUMED_LIFETIME_SECONDS = 3600.0
"""The lifetime that clients are told of keys that never expire, so that they ask again."""
_REASONS = {200: "OK", 400: "Bad Request", 403: "Forbidden", 404: "Not Found", 500: "Internal Server Error"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Secret:
    """The secret that only the containers of one job know."""

    path: str = field(repr=False)
    token: str = field(default="", repr=False)
    """Needed too if the containers are given a full URI instead of a path."""


def new_secret() -> Secret:
    """A path of the service's form."""
    return Secret(path=f"/v2/credentials/proxy-{secrets.token_hex(32)}-customer", token=secrets.token_urlsafe(32))


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestHead:
    """The head of a request."""

    method: str
    path: str
    authorization: str = field(default="", repr=False)

    def knows(self, secret: Secret, *, with_token: bool) -> bool:
        """True if it has the secret path and, if needed, the token."""
        known = compare_digest(self.path.encode(), secret.path.encode())
        return known and (not with_token or compare_digest(self.authorization.encode(), secret.token.encode()))


def read_head(head: bytes) -> RequestHead | None:
    """Parse the head of a request, without the empty line at its end; None if it is not HTTP."""
    from smlocal.base.web import MessageError, take_head  # a job whose containers never ask needs none of it

    try:
        taken, _ = take_head(head + b"\r\n\r\n")
        if taken is None:
            return None
        taken.check_request()
    except MessageError:
        return None
    method, target, _ = taken.first
    authorization = taken.headers.get("authorization", "")
    return RequestHead(method=method, path=target.partition("?")[0], authorization=authorization)


def response(status: int, body: bytes) -> bytes:
    """A complete response."""
    head = (
        f"HTTP/1.1 {status} {_REASONS[status]}\r\nServer: {SERVER}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body


def error_response(status: int, code: str, message: str) -> bytes:
    """An error in the form that clients log."""
    return response(status, json.dumps({"code": code, "message": message, "HTTPErrorCode": status}).encode())


def credentials_response(keys: Credentials, role_arn: str, now: float) -> bytes:
    """The response that contains the keys."""
    expires = now + ASSUMED_LIFETIME_SECONDS if keys.expires is None else keys.expires
    document = {
        "RoleArn": role_arn,
        "AccessKeyId": keys.access_key,
        "SecretAccessKey": keys.secret_key,
        "Token": keys.token,
        "Expiration": datetime.fromtimestamp(expires, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    return response(200, json.dumps(document).encode())


UNKNOWN = error_response(404, "InvalidIdInRequest", "CredentialsV2Request: ID not found")
MALFORMED = error_response(400, "BadRequest", "not a request for credentials")


# Passes a connection to the supervisor that it is for.
#
# Supervisors of one user share port 80, and the kernel gives each connection to any of them. Each supervisor also
# listens at an abstract Unix socket whose name is made from the path of its credentials.

_PEER = struct.Struct("3i")
"""Process, user and group of the other end."""
_TIMEOUT_SECONDS = 2.0


def listen_for_handovers(path: str) -> socket.socket:
    """The socket that takes connections for this path."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        listener.bind(_address(path))
        listener.listen(64)
    except BaseException:
        listener.close()
        raise
    return listener


def hand_over(path: str, connection: socket.socket, head: bytes) -> bool:
    """Pass on a connection and the request head that was read from it; False if no supervisor has this path."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as other:
        other.settimeout(_TIMEOUT_SECONDS)
        try:
            other.connect(_address(path))
            if not _is_same_user(other):
                return False
            socket.send_fds(other, [head], [connection.fileno()])
        except OSError:
            return False
    return True


def receive(listener: socket.socket) -> tuple[socket.socket, bytes] | None:
    """A connection that was handed over, with its request head; None if another user sent something."""
    with suppress(OSError):
        other, _ = listener.accept()
        with other:
            other.settimeout(_TIMEOUT_SECONDS)
            if not _is_same_user(other):
                return None
            head, descriptors, _, _ = socket.recv_fds(other, MAX_HEAD_BYTES, 1)
            if descriptors:
                return socket.socket(fileno=descriptors[0]), head
    return None


def _address(path: str) -> bytes:
    # Everyone can list these names, and the path is secret.
    return b"\0smlocal-credentials-" + sha256(path.encode()).hexdigest()[:40].encode()


def _is_same_user(other: socket.socket) -> bool:
    user = -1
    if sys.platform == "linux":  # others have no such names
        peer = other.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
        user = int(_PEER.unpack(peer)[1])
    return user == os.geteuid()


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
    loopback: bool = False
    """True if it is at the loopback address: the containers share the addresses of smlocal."""

    @property
    def address(self) -> str:
        """Where the containers find it."""
        return LOOPBACK if self.loopback else ADDRESS

    @property
    def shared(self) -> bool:
        """True if all jobs of one user share the port."""
        return self.port == PORT


def open_listener(port: int, make_address: Callable[[], None], *, loopback: bool = False) -> Listener | None:
    """Listen at a port (0: any); None if port 80 is not allowed or taken. `make_address` is called if it is missing."""
    try:
        bound = _bind(port, make_address, LOOPBACK if loopback else ADDRESS)
    except OSError as error:
        if port == PORT and error.errno in _NOT_ALLOWED:
            return None
        raise unreachable(error.strerror or str(error)) from error
    return Listener(socket=bound, port=bound.getsockname()[1], loopback=loopback)


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
        with socket.create_connection((listener.address, listener.port), timeout=_CHECK_SECONDS) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: smlocal\r\n\r\n")
            with client.makefile("rb") as answer:
                return f"\r\nServer: {SERVER}\r\n".encode() in answer.read(MAX_HEAD_BYTES)
    except OSError:
        return False


def _bind(port: int, make_address: Callable[[], None], address: str) -> socket.socket:
    until = time.monotonic() + _ADDRESS_SECONDS
    while True:
        bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if port == PORT:
                bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            bound.bind((address, port))
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
LOOPBACK = "127.0.0.1"
"""Of containers that share the addresses of smlocal: the address above cannot be made there."""
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
    the meantime, the address is made again, and that job cannot be reached for a moment. If several jobs end at
    once, each checks again after its change, so the last one removes the address.
    """
    if not _marks(engine) - set(marks):
        _remove_network(engine)
    yield
    while True:
        if _marks(engine):
            _make_network(engine)
            if _marks(engine):
                return  # the owner of the mark checks when it ends
        elif _exists(engine):
            _remove_network(engine)
        else:
            return  # a new job makes its mark first, then the address


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
