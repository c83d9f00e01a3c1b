"""Answers the requests for credentials of one job's containers, and renews its keys well before they expire."""

import selectors
import socket
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import field
from functools import partial
from threading import Event, Lock, Thread
from typing import Any, TypedDict, Unpack

from smlocal.base.quick_dataclass import dataclass
from smlocal.base.threads import watched_thread
from smlocal.data.sources.s3.aws_session import Credentials, caller_credentials, missing
from smlocal.errors import ClockWrongError, CredentialsMissingError, RoleNotAssumedError, SmlocalError
from smlocal.jobs.credentials.listener import (
    MALFORMED,
    MAX_HEAD_BYTES,
    PORT,
    UNKNOWN,
    Listener,
    RequestHead,
    Secret,
    credentials_response,
    error_response,
    hand_over,
    has_address,
    is_reached,
    listen_for_handovers,
    open_listener,
    read_head,
    receive,
    unreachable,
)
from smlocal.terms.clock import CLOCK_REMEDY, is_wrong_clock

AHEAD_SECONDS = 1200.0
"""Clients ask for new keys 15 minutes before the old ones expire."""
_UNKNOWN_END_SECONDS = 300.0
"""When to fetch keys again whose end is not known: the user may have others by then."""
_RETRY_SECONDS = 10.0
_SHORTEST_SECONDS = 0.5


class ExpiredError(Exception):
    """No keys are valid."""


@dataclass(kw_only=True, slots=True)
class RenewedKeys:
    """One job's keys; safe to use from many threads."""

    fetch: Callable[[], Credentials]
    """Gets new keys; raises `SmlocalError`."""
    warn: Callable[[str], None] = lambda _: None
    """Gets the reason why they could not be renewed."""
    clock: Callable[[], float] = time.time
    _keys: Credentials | None = None
    _renew_at: float = 0.0
    _lock: Lock = field(default_factory=Lock)
    _reported: str = ""

    def fetch_first(self) -> None:
        """Get the first keys; raises the error if there are none."""
        self._take(self.fetch())

    def current(self) -> Credentials:
        """The present keys, without waiting if they are valid; raises `ExpiredError`."""
        keys = self._valid()
        if keys is None:
            self.renew_if_due()
            keys = self._valid()
        if keys is None:
            raise ExpiredError(self._reported)
        return keys

    def renew_if_due(self) -> None:
        """Renew the keys if it is time; other threads get the old ones meanwhile."""
        with self._lock:
            if self.clock() >= self._renew_at:
                self._renew()

    def _valid(self) -> Credentials | None:
        keys = self._keys
        return keys if keys is not None and (keys.expires is None or keys.expires > self.clock()) else None

    def _renew(self) -> None:
        try:
            self._take(self.fetch())
            self._reported = ""
        except SmlocalError as error:
            self._renew_at = self.clock() + _RETRY_SECONDS
            reason = error.with_details
            if reason != self._reported:
                self._reported = reason
                self.warn(reason)

    def _take(self, keys: Credentials) -> None:
        self._keys = keys
        now = self.clock()
        if keys.expires is None:
            self._renew_at = now + _UNKNOWN_END_SECONDS
        else:
            left = keys.expires - now
            wait = left - AHEAD_SECONDS if left > 2 * AHEAD_SECONDS else left / 2
            self._renew_at = now + max(_SHORTEST_SECONDS, wait)


# Where the containers' keys come from: the user who runs smlocal, or the job's role.


def user_keys() -> Credentials:
    """The keys of the user who runs smlocal; raises `CredentialsMissingError`."""
    try:
        return caller_credentials()
    except CredentialsMissingError as error:
        raise _for_containers(error.details) from error


def role_keys(role_arn: str, region: str, *, session: str) -> Credentials:
    """Temporary keys of a role, which the user assumes at STS in this session; raises `RoleNotAssumedError`."""
    import botocore.session
    from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

    try:
        # No types are published.
        client: Any = botocore.session.Session().create_client("sts", region_name=region)
        given = client.assume_role(RoleArn=role_arn, RoleSessionName=session)["Credentials"]
    except NoCredentialsError as error:
        raise _for_containers(()) from error
    except (BotoCoreError, ClientError, RuntimeError, ValueError, KeyError) as error:
        if is_wrong_clock(str(error)):
            raise ClockWrongError(
                f"the role {role_arn} cannot be assumed because the clock of this machine is wrong",
                details=(str(error),),
                remedy=(CLOCK_REMEDY,),
            ) from error
        raise RoleNotAssumedError(
            f"the role {role_arn} cannot be assumed",
            details=(str(error),),
            remedy=(
                "Allow your own identity in its trust policy: aws sts get-caller-identity shows it.",
                "Or run with your own credentials: --credentials inherit; or without: --credentials none.",
            ),
        ) from error
    return Credentials(
        access_key=given["AccessKeyId"],
        secret_key=given["SecretAccessKey"],
        token=given["SessionToken"],
        expires=given["Expiration"].timestamp(),
    )


def _for_containers(details: tuple[str, ...]) -> CredentialsMissingError:
    return CredentialsMissingError(
        "Local.Credentials needs AWS credentials, and none were found",
        details=details,
        remedy=(*missing().remedy, "Or run without any: --credentials none"),
    )


_CHECK_SECONDS = 1.0
_REQUEST_SECONDS = 5.0
"""The time limit of a whole request."""


class Job(TypedDict):
    """The facts that a server needs about its job."""

    secret: Secret
    keys: RenewedKeys
    role_arn: str
    is_ours: Callable[[str], bool]
    make_address: Callable[[], None]
    died: Callable[[str, BaseException], None]


# The connections that are served at the same time. None of a container's can keep those of others away.

MOST = 64


@dataclass(kw_only=True, slots=True)
class Place:
    """One connection."""

    connection: socket.socket
    address: str
    """The address of the client; empty if it is not known any more."""
    waits: bool = True
    """True until its request has come."""


@dataclass(kw_only=True, slots=True)
class Places:
    """If all places are taken, the address with the most connections that only wait loses the oldest of them."""

    most: int = MOST
    _taken: list[Place] = field(default_factory=list)
    """In the order in which they came."""
    _lock: Lock = field(default_factory=Lock)

    def take(self, connection: socket.socket) -> Place | None:
        """A place for a new connection; None, and the connection is closed, if all others are being answered."""
        place = Place(connection=connection, address=_address_of(connection))
        with self._lock:
            if len(self._taken) >= self.most and not self._free_one():
                connection.close()
                return None
            self._taken.append(place)
        return place

    def answering(self, place: Place) -> None:
        """The request has come: the connection is not ended any more."""
        with self._lock:
            place.waits = False

    def leave(self, place: Place) -> None:
        """The connection has ended."""
        with self._lock, suppress(ValueError):  # it may have lost its place
            self._taken.remove(place)

    def _free_one(self) -> bool:
        waiting = [place for place in self._taken if place.waits]
        if not waiting:
            return False
        of_address = Counter(place.address for place in waiting)
        most = max(of_address.values())
        oldest = next(place for place in waiting if of_address[place.address] == most)
        self._taken.remove(oldest)
        with suppress(OSError):
            oldest.connection.shutdown(socket.SHUT_RDWR)  # its thread notices that and closes it
        return True


def _address_of(connection: socket.socket) -> str:
    try:
        return str(connection.getpeername()[0])
    except (OSError, IndexError):
        return ""


@dataclass(kw_only=True, slots=True)
class CredentialServer:
    """The server of one job; `begin` starts it and `close` ends it."""

    listener: Listener
    secret: Secret
    keys: RenewedKeys
    role_arn: str
    is_ours: Callable[[str], bool]
    """True for the address of a container of the job."""
    make_address: Callable[[], None]
    """Makes the address on this machine; raises `SmlocalError`."""
    died: Callable[[str, BaseException], None]
    """Gets the name of a thread that ended unexpectedly, and its exception."""
    _handovers: socket.socket | None = None
    _stopped: Event = field(default_factory=Event)
    _making_address: Lock = field(default_factory=Lock)
    """Once `close` has had this lock, the address is not made again."""
    _wakeup: tuple[socket.socket, socket.socket] = field(default_factory=socket.socketpair)
    _places: Places = field(default_factory=Places)
    _threads: list[Thread] = field(default_factory=list)

    @classmethod
    def open(cls, port: int | None, *, loopback: bool = False, **job: Unpack[Job]) -> "CredentialServer":
        """Serve at this port, or at port 80 if that is possible and else at any; raises `CredentialsUnreachableError`.

        It answers as soon as it listens, because connections that the kernel has given to one listener of a shared port
        are never given to another.
        """
        usual = (0,) if loopback else (PORT, 0)
        for candidate in usual if port is None else (port,):
            listener = open_listener(candidate, job["make_address"], loopback=loopback)
            if listener is None:
                continue
            server = cls(listener=listener, **job)
            server.begin()
            if is_reached(listener):
                return server
            server.close()
        raise unreachable("another program uses the address")

    def begin(self) -> None:
        """Answer, and keep the keys valid."""
        if self.listener.shared:
            self._handovers = listen_for_handovers(self.secret.path)
        self._threads = [
            watched_thread(self._listen, name="credentials", died=self.died),
            watched_thread(self._maintain, name="credentials-renewal", died=self.died),
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Answer no more requests."""
        with self._making_address:
            self._stopped.set()
        self._wakeup[1].close()
        for thread in self._threads[:1]:
            thread.join()
        self._hand_over_waiting()
        for each in (self.listener.socket, self._handovers, self._wakeup[0]):
            if each is not None:
                each.close()

    def _maintain(self) -> None:
        """Renew the keys in time, and make the address again if somebody has removed it.

        No container is attached to its network, so `docker network prune` removes it.
        """
        while not self._stopped.wait(_CHECK_SECONDS):
            self.keys.renew_if_due()
            with self._making_address, suppress(SmlocalError):
                if not self.listener.loopback and not self._stopped.is_set() and not has_address():
                    self.make_address()

    def _hand_over_waiting(self) -> None:
        """Connections that wait at a shared port when the server closes may be for other jobs."""
        with suppress(OSError):
            while self.listener.shared and self._threads:
                connection, _ = self.listener.socket.accept()
                place = self._places.take(connection)
                if place is not None:
                    self._serve(place, b"")

    def _listen(self) -> None:
        with selectors.DefaultSelector() as selector:
            for each in (self.listener.socket, self._handovers, self._wakeup[0]):
                if each is not None:
                    each.setblocking(False)
                    selector.register(each, selectors.EVENT_READ)
            while not self._stopped.is_set():
                for key, _ in selector.select():
                    self._accept(key.fileobj)

    def _accept(self, source: object) -> None:
        accepted: tuple[socket.socket, bytes] | None = None
        if source is self._handovers and self._handovers is not None:
            accepted = receive(self._handovers)
        elif source is self.listener.socket:
            with suppress(OSError):
                accepted = self.listener.socket.accept()[0], b""
        if accepted is None:
            return
        place = self._places.take(accepted[0])
        if place is not None:
            serve = partial(self._serve, place, accepted[1])
            watched_thread(serve, name="credentials-request", died=self.died).start()

    def _serve(self, place: Place, head: bytes) -> None:
        """Answer a request; `head` is empty unless another supervisor has read it."""
        connection = place.connection
        try:
            with connection, suppress(OSError):
                handed_over = bool(head)
                if not handed_over:
                    head = _read_head(connection)
                self._places.answering(place)
                request = read_head(head)
                if request is None:
                    connection.sendall(MALFORMED)
                elif request.knows(self.secret, with_token=not self.listener.shared):
                    connection.sendall(self._response(request, connection.getpeername()[0]))
                elif handed_over or not self.listener.shared or not hand_over(request.path, connection, head):
                    connection.sendall(UNKNOWN)
        finally:
            self._places.leave(place)

    def _response(self, request: RequestHead, address: str) -> bytes:
        if not self.is_ours(address):
            return UNKNOWN
        if request.method != "GET":
            return MALFORMED
        try:
            return credentials_response(self.keys.current(), self.role_arn, time.time())
        except ExpiredError as error:
            return error_response(500, "InternalServerError", f"no valid credentials: {error}")


def _read_head(connection: socket.socket) -> bytes:
    """The head of a request; empty if it does not arrive within the limits of time and length."""
    head = b""
    until = time.monotonic() + _REQUEST_SECONDS
    while b"\r\n\r\n" not in head and len(head) < MAX_HEAD_BYTES:
        connection.settimeout(max(0.01, until - time.monotonic()))
        piece = connection.recv(MAX_HEAD_BYTES - len(head))
        if not piece:
            break
        head += piece
    head, end, _ = head.partition(b"\r\n\r\n")
    return head if end else b""
