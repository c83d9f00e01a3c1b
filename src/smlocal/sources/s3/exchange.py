"""One request to S3 and its answer, signed, and tried again while that may help."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from smlocal.errors import CredentialsMissingError
from smlocal.sources.s3.answers import error_of, is_expired, is_worth_another_attempt, unanswered
from smlocal.sources.s3.connection import BrokenConnectionError, Connection
from smlocal.sources.s3.credentials import Credentials
from smlocal.sources.s3.interface import S3Error
from smlocal.sources.s3.patience import Patience
from smlocal.sources.s3.pool import Pool
from smlocal.sources.s3.settings import S3Settings
from smlocal.sources.s3.signing import Signer

_GOOD = {200, 206}
_MOST_ERROR = 1 << 20
_AGENT = "smlocal"


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """A good answer; its body waits in the connection, which is the caller's to give back."""

    host: str
    connection: Connection
    status: int
    headers: dict[str, str]


class Exchange:
    """Asks one S3; safe to use from many threads."""

    def __init__(self, settings: S3Settings) -> None:
        """An exchange without connections."""
        self._settings = settings
        self._pool = Pool(settings)
        self._signer = Signer(settings.region)

    def send(self, request: Request, patience: Patience) -> Answer:
        """Ask until there is an answer, or patience ends; raises `S3Error`."""
        renewed = False
        while True:
            patience.asking()
            credentials = self._credentials(request)
            try:
                return self._attempt(request, credentials, patience)
            except (BrokenConnectionError, OSError) as error:
                found = unanswered(error, request.uri, request.operation)
                if _is_hopeless(error):
                    raise found from error
                patience.pause(found)
            except S3Error as refusal:
                if is_expired(refusal) and not renewed and self._has_others(credentials):
                    renewed = True
                elif is_worth_another_attempt(refusal):
                    patience.pause(refusal)
                else:
                    raise

    def give_back(self, answer: Answer) -> None:
        """Keep the connection for the next request, or close it if the answer was not read to its end."""
        self._pool.give_back(answer.host, answer.connection)

    def close(self) -> None:
        """Close the connections that nobody uses at the moment."""
        self._pool.clear()

    def _attempt(self, request: Request, credentials: Credentials, patience: Patience) -> Answer:
        endpoint = self._settings.endpoint
        host, path = endpoint.locate(request.bucket, request.key)
        authority = endpoint.authority(host)
        signed = self._signer.sign(
            credentials, f"{request.method}\n{path}\n{request.query}", {"host": authority, **request.headers}
        )
        headers = {**signed, "user-agent": _AGENT, **self._pool.proxy_headers}
        target = self._pool.target(authority, f"{path}?{request.query}" if request.query else path)
        while True:
            connection = self._pool.take(host, patience.waiting)
            try:
                status, found = connection.ask(request.method, target, headers)
                if status in _GOOD:
                    return Answer(host=host, connection=connection, status=status, headers=found)
                body = connection.read(_MOST_ERROR)
            except BrokenConnectionError:
                connection.close()
                self._pool.clear()
                if connection.requests == 1:
                    raise
                # It had waited in the pool, and the server had closed it meanwhile: nothing is wrong yet.
            except BaseException:
                connection.close()
                raise
            else:
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


def _is_hopeless(error: Exception) -> bool:
    """A certificate that is not trusted now will not be trusted in a minute."""
    return hasattr(error, "verify_code")
