"""Errors of S3 as `S3Error`, the failure reasons for them, and when a request is tried again."""

import random
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from smlocal.data.sources.s3.interface import S3Error

UNREACHABLE = "Unable to execute request to S3"

_USUAL_ERRORS = {
    304: ("NotModified", "Not Modified"),
    400: ("BadRequest", "Bad Request"),
    403: ("Forbidden", "Forbidden"),
    404: ("NoSuchKey", "The specified key does not exist."),
    412: ("PreconditionFailed", "At least one of the pre-conditions you specified did not hold"),
    416: ("InvalidRange", "The requested range is not satisfiable"),
    429: ("TooManyRequests", "Please reduce your request rate."),
    500: ("InternalError", "We encountered an internal error. Please try again."),
    503: ("ServiceUnavailable", "Please reduce your request rate."),
}
_TEMPORARY = {429, 500, 502, 503, 504}
_TEMPORARY_CODES = {"InternalError", "RequestTimeout", "ServiceUnavailable", "SlowDown"}
_REDIRECTS = {301, 302, 307, 308}
_WRONG_REGION = {"AuthorizationHeaderMalformed", "IllegalLocationConstraintException", "PermanentRedirect"}
_EXPIRED = {"ExpiredToken", "ExpiredTokenException", "RequestExpired", "TokenRefreshRequired"}


def error_of(status: int, body: bytes, uri: str, operation: str) -> S3Error:
    """The error in a response; without a document (HEAD has no body), S3's usual text for the status."""
    code, message = _parsed(body) if body else ("", "")
    if not code:
        code, message = _usual_error(status)
    return S3Error(code, message, status=status, uri=uri, operation=operation)


def _usual_error(status: int) -> tuple[str, str]:
    from http import HTTPStatus

    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "Unknown"
    return _USUAL_ERRORS.get(status, (phrase.replace(" ", ""), phrase))


def _parsed(body: bytes) -> tuple[str, str]:
    from xml.etree.ElementTree import ParseError, fromstring

    try:
        top = fromstring(body)  # noqa: S314  expat has limits of its own, and this is the S3 that the user trusts
    except ParseError:
        return "", ""  # an HTML page of a proxy
    texts = {each.tag.rpartition("}")[2]: (each.text or "").strip() for each in top.iter()}
    return texts.get("Code", ""), texts.get("Message", "") or texts.get("Code", "")


def object_changed(uri: str) -> S3Error:
    """The object is not the one that was listed; S3's own error for this."""
    code, message = _USUAL_ERRORS[412]
    return S3Error(code, message, status=412, uri=uri, operation="GetObject")


def checksum_mismatch(uri: str) -> S3Error:
    """The bytes received are not those that were stored."""
    text = "The received bytes do not match the checksum that S3 has for the object"
    return S3Error("BadDigest", text, status=200, uri=uri, operation="GetObject")


def no_response(error: Exception, uri: str, operation: str) -> S3Error:
    """The error without a response: the service's text, then the system's."""
    found = S3Error(
        "RequestError", f"{UNREACHABLE}: {str(error) or type(error).__name__}", uri=uri, operation=operation
    )
    found.__cause__ = error
    return found


def is_temporary(error: S3Error) -> bool:
    """Whether the same request may succeed in a moment."""
    return error.status in _TEMPORARY or error.code in _TEMPORARY_CODES


def is_expired(error: S3Error) -> bool:
    """Whether new credentials may help; HEAD has no code, only status 400."""
    return error.code in _EXPIRED or (error.operation == "HeadObject" and error.status == 400)  # noqa: PLR2004  Bad Request


def s3_error(error: Exception, uri: str, operation: str) -> S3Error:
    """Convert an exception of botocore's client or HTTP session: S3's response, or why there was none."""
    from botocore.exceptions import (
        BotoCoreError,
        ClientError,
        CredentialRetrievalError,
        MissingDependencyException,
        NoCredentialsError,
        ParamValidationError,
        SSOError,
        TokenRetrievalError,
    )

    if isinstance(error, ClientError):
        details, meta = error.response.get("Error", {}), error.response.get("ResponseMetadata", {})
        status, code = int(meta.get("HTTPStatusCode", 0)), str(details.get("Code", ""))
        message = str(details.get("Message", ""))
        if not code or code.isdigit():  # no document: botocore puts the status here
            code, message = _usual_error(status)
        return S3Error(code, message or code, status=status, uri=uri, operation=operation)
    if isinstance(error, ParamValidationError):
        return S3Error("InvalidRequest", str(error), status=400, uri=uri, operation=operation)
    if isinstance(error, CredentialRetrievalError | NoCredentialsError | SSOError | TokenRetrievalError):
        return S3Error(
            "ExpiredToken", str(error), status=400, uri=uri, operation=operation
        )  # they were valid at the start
    if isinstance(error, MissingDependencyException):  # awscrt, for the signature of a multi-region access point
        return S3Error("MissingDependency", str(error), status=400, uri=uri, operation=operation)
    why = getattr(error, "kwargs", {}).get("error") if isinstance(error, BotoCoreError) else None
    return no_response(why if isinstance(why, Exception) else error, uri, operation)


def is_untrusted(error: BaseException | None) -> bool:
    """Whether the server's certificate is not trusted, so that another attempt is useless."""
    from botocore.exceptions import SSLError

    return isinstance(error, SSLError) or "CERTIFICATE_VERIFY_FAILED" in str(error)


def is_redirect(error: S3Error) -> bool:
    """Whether the bucket is in another region; botocore finds out which."""
    return error.status in _REDIRECTS or error.code in _WRONG_REGION


# Failure reasons for errors of S3, in the service's words.

_FORBIDDEN = 403


def download_failure(error: S3Error) -> str:
    """The text after `Data download failed:`; the service's own where it is known, else in its style."""
    if error.operation == "ListObjectsV2":
        text = f"{error.code}: {error.message}" if error.status else UNREACHABLE
        return f"Failed to download data. ListObjectsV2 failed for {error.uri} : {text}"
    if error.status == _FORBIDDEN and error.code == "Forbidden":
        # A response without a document, as to HEAD.
        return "failed to download data. 403 Forbidden (403): Forbidden"
    return f"Unable to download object {error.uri} ({error.code}: {error.message})"


def upload_failure(error: S3Error) -> str:
    """The whole failure reason of an upload."""
    return f"Artifact upload failed:{upload_reason(error)}"


def upload_reason(error: S3Error) -> str:
    """The text after the colon, in the service's form: `Error 7: AccessDenied (403): Access Denied`."""
    return f"Error 7: {error.code} ({error.status}): {error.message}" if error.status else UNREACHABLE


# Retries with growing pauses, until too much time has passed without a byte; and calls that can be cancelled.

TICK = 0.5
"""Seconds between two checks for cancellation while waiting."""

_FIRST = 0.1
_LONGEST = 4.0

_T = TypeVar("_T")


class FetchCancelledError(Exception):
    """The caller has cancelled the transfer."""


def never() -> bool:
    """The `cancelled` of a call that cannot be cancelled."""
    return False


class Retry:
    """The time limit and pauses of one call; the limit starts again with every byte received."""

    def __init__(self, seconds: float, cancelled: Callable[[], bool]) -> None:
        """Start the clock."""
        self._seconds = seconds
        self._cancelled = cancelled
        self.restart()

    def restart(self) -> None:
        """Start the clock again: bytes have been received."""
        self._since = time.monotonic()
        self._pause = _FIRST

    def check(self) -> None:
        """Raise `FetchCancelledError` if the call is cancelled."""
        if self._cancelled():
            raise FetchCancelledError

    def pause(self, error: S3Error) -> None:
        """Wait before the next attempt, each time about twice as long; raises `error` if the time is up."""
        # Jitter, so that threads that failed at the same time do not try again at the same time.
        until = time.monotonic() + self._pause * random.uniform(0.5, 1)  # noqa: S311  not a secret
        self._pause = min(2 * self._pause, _LONGEST)
        if until - self._since > self._seconds:
            raise error
        while (left := until - time.monotonic()) > 0:
            self.check()
            time.sleep(min(left, TICK))


def until_cancelled(call: Callable[[], _T], cancelled: Callable[[], bool]) -> _T:
    """The result of `call`; `FetchCancelledError` within a second of `cancelled`, even if the server is silent.

    The call runs in a daemon thread, which may be abandoned: a blocked socket cannot be interrupted.
    """
    if cancelled is never:
        return call()
    from concurrent.futures import Future

    result: Future[_T] = Future()

    def run() -> None:
        try:
            result.set_result(call())
        except BaseException as error:  # noqa: BLE001  raised in the thread that waits
            result.set_exception(error)

    threading.Thread(target=run, daemon=True, name="s3-call").start()
    while not result.done():
        if cancelled():
            raise FetchCancelledError
        try:
            return result.result(timeout=TICK)
        except TimeoutError:
            continue  # not done, or the call raised a TimeoutError, which is raised below
    return result.result()
