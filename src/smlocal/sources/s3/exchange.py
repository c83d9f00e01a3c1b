"""One request to S3 and its answer, signed, and tried again while that may help."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import field

from smlocal.errors import CredentialsMissingError
from smlocal.quick_dataclass import dataclass
from smlocal.sources.s3.answers import error_of, is_expired, is_worth_another_attempt, unanswered
from smlocal.sources.s3.body import Body, sha256_of
from smlocal.sources.s3.connection import EXPECT, BrokenConnectionError, Connection
from smlocal.sources.s3.credentials import Credentials
from smlocal.sources.s3.interface import S3Error
from smlocal.sources.s3.patience import Patience
from smlocal.sources.s3.pool import Pool
from smlocal.sources.s3.settings import S3Settings
from smlocal.sources.s3.signing import EMPTY, UNSIGNED, Signer

_GOOD = {200, 204, 206}
_MOST_ERROR = 1 << 20
_AGENT = "smlocal"
_LARGE = 1 << 20
"""A body of more bytes is announced first, so that a refusal does not have to wait for it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """What is asked; `headers` are those beside the usual ones, their names in lower case."""

    operation: str
    method: str
    bucket: str
    key: str = ""
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    uri: str
    body: Body | None = None
    """None for a method that has none."""
    moved: Callable[[int], None] = lambda _: None
    """Told the bytes of the body as they go, and fewer than none when some must go again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """A good answer; its body waits in the connection, which is the caller's to give back."""

    host: str
    connection: Connection
    status: int
    headers: dict[str, str]


class Exchange:
    """Asks one S3; safe to use from many threads."""

    def __init__(self, settings: S3Settings, *, reach: float = math.inf) -> None:
        """An exchange without connections; `reach` is how many seconds to go on when not even one can be had."""
        self._settings = settings
        self._reach = reach
        self._pool = Pool(settings)
        self._signer = Signer(settings.region)

    def send(self, request: Request, patience: Patience) -> Answer:
        """Ask until there is an answer, or patience ends; raises `S3Error`."""
        renewed = False
        payload = self._payload(request.body)
        began = time.monotonic()
        while True:
            patience.asking()
            credentials = self._credentials(request)
            try:
                return self._attempt(request, credentials, patience, payload)
            except (BrokenConnectionError, OSError) as error:
                found = unanswered(error, request.uri, request.operation)
                unreached = isinstance(error, OSError) and time.monotonic() - began > self._reach
                if unreached or _is_hopeless(error):
                    raise found from error
                patience.pause(found)
            except S3Error as refusal:
                if is_expired(refusal) and not renewed and self._has_others(credentials):
                    renewed = True
                elif is_worth_another_attempt(refusal):
                    patience.pause(refusal)
                else:
                    raise

    @property
    def signs_bodies(self) -> bool:
        """Whether a signature covers the body too, as it must where nothing else protects it on its way."""
        return not self._settings.endpoint.encrypted

    def give_back(self, answer: Answer) -> None:
        """Keep the connection for the next request, or close it if the answer was not read to its end."""
        self._pool.give_back(answer.host, answer.connection)

    def close(self) -> None:
        """Close the connections that nobody uses at the moment."""
        self._pool.clear()

    def _payload(self, body: Body | None) -> str:
        """What the signature says of the body."""
        if body is None or not body.size:
            return EMPTY
        return sha256_of(body) if self.signs_bodies else UNSIGNED

    def _attempt(self, request: Request, credentials: Credentials, patience: Patience, payload: str) -> Answer:
        endpoint = self._settings.endpoint
        host, path = endpoint.locate(request.bucket, request.key)
        authority = endpoint.authority(host)
        signed = self._signer.sign(
            credentials, f"{request.method}\n{path}\n{request.query}", {"host": authority, **request.headers}, payload
        )
        headers = {**signed, "user-agent": _AGENT, **_about(request.body), **self._pool.proxy_headers}
        target = self._pool.target(authority, f"{path}?{request.query}" if request.query else path)
        while True:
            connection = self._pool.take(host, patience.waiting)
            sending = _Sending(request, patience)
            try:
                pieces = () if request.body is None else request.body.pieces()
                status, found = connection.ask(request.method, target, headers, pieces, sending.moved)
                if status in _GOOD:
                    return Answer(host=host, connection=connection, status=status, headers=found)
                body = connection.read(_MOST_ERROR)
            except BrokenConnectionError:
                sending.take_back()
                connection.close()
                self._pool.clear()
                if connection.requests == 1:
                    raise
                # It had waited in the pool, and the server had closed it meanwhile: nothing is wrong yet.
            except BaseException:
                sending.take_back()
                connection.close()
                raise
            else:
                sending.take_back()
                self._pool.give_back(host, connection)
                raise error_of(status, body, request.uri, request.operation)

    def _credentials(self, request: Request) -> Credentials:
        try:
            return self._settings.credentials.current()
        except CredentialsMissingError as error:  # they were there at the start
            words = "The provided token has expired."
            raise S3Error("ExpiredToken", words, status=400, uri=request.uri, operation=request.operation) from error

    def _has_others(self, refused: Credentials) -> bool:
        try:
            return self._settings.credentials.renew(refused)
        except CredentialsMissingError:
            return False


class _Sending:
    """Counts what has gone of a body, and that patience need not be lost over it."""

    def __init__(self, request: Request, patience: Patience) -> None:
        self._request, self._patience = request, patience
        self._count = 0

    def moved(self, count: int) -> None:
        self._count += count
        self._request.moved(count)
        self._patience.moved()

    def take_back(self) -> None:
        if self._count:
            self._request.moved(-self._count)


def _about(body: Body | None) -> dict[str, str]:
    if body is None:
        return {}
    return {"content-length": str(body.size), **({EXPECT: "100-continue"} if body.size > _LARGE else {})}


def _is_hopeless(error: Exception) -> bool:
    """A certificate that is not trusted now will not be trusted in a minute."""
    return hasattr(error, "verify_code")
