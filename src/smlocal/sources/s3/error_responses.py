"""What S3's answers say: errors, and which bytes of an object they hold."""

from collections.abc import Mapping

from smlocal.quick_dataclass import dataclass
from smlocal.sources.s3.interface import S3Error

UNREACHABLE = "Unable to execute request to S3"

_WORDS = {
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
_AGAIN = {429, 500, 502, 503, 504}
_AGAIN_CODES = {"InternalError", "RequestTimeout", "ServiceUnavailable", "SlowDown"}
_REDIRECTS = {301, 302, 307, 308}
_WRONG_REGION = {"AuthorizationHeaderMalformed", "IllegalLocationConstraintException", "PermanentRedirect"}
_EXPIRED = {"ExpiredToken", "ExpiredTokenException", "RequestExpired", "TokenRefreshRequired"}


def error_of(status: int, body: bytes, uri: str, operation: str) -> S3Error:
    """The error of an answer, in S3's words or, where there are none (HEAD has no body), in its usual ones."""
    code, message = _said(body) if body else ("", "")
    if not code:
        code, message = _usual(status)
    return S3Error(code, message, status=status, uri=uri, operation=operation)


def _usual(status: int) -> tuple[str, str]:
    from http import HTTPStatus

    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "Unknown"
    return _WORDS.get(status, (phrase.replace(" ", ""), phrase))


def _said(body: bytes) -> tuple[str, str]:
    from xml.etree.ElementTree import ParseError, fromstring

    try:
        top = fromstring(body)  # noqa: S314  expat has limits of its own, and this is the S3 that the user trusts
    except ParseError:
        return "", ""  # a page of HTML from something in between
    texts = {each.tag.rpartition("}")[2]: (each.text or "").strip() for each in top.iter()}
    return texts.get("Code", ""), texts.get("Message", "") or texts.get("Code", "")


def changed(uri: str) -> S3Error:
    """The object is no longer the one that was listed, found by ourselves; in the words S3 has for it."""
    code, message = _WORDS[412]
    return S3Error(code, message, status=412, uri=uri, operation="GetObject")


def damaged(uri: str) -> S3Error:
    """What came is not what S3 was given."""
    words = "The bytes that came do not add up to the checksum that S3 has for them"
    return S3Error("BadDigest", words, status=200, uri=uri, operation="GetObject")


def unanswered(error: Exception, uri: str, operation: str) -> S3Error:
    """No answer came; first in the words of the service, then in those of the system."""
    found = S3Error(
        "RequestError", f"{UNREACHABLE}: {str(error) or type(error).__name__}", uri=uri, operation=operation
    )
    found.__cause__ = error
    return found


def is_worth_another_attempt(error: S3Error) -> bool:
    """Whether the same request may be answered well in a moment."""
    return error.status in _AGAIN or error.code in _AGAIN_CODES


def is_expired(error: S3Error) -> bool:
    """Whether new credentials may help; a HEAD cannot say more than 400."""
    return error.code in _EXPIRED or (error.operation == "HeadObject" and error.status == 400)  # noqa: PLR2004  Bad Request


def failure_of(error: Exception, uri: str, operation: str) -> S3Error:
    """What botocore's client or HTTP session raised, as an `S3Error`: S3's answer, or why there was none."""
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
        said, meta = error.response.get("Error", {}), error.response.get("ResponseMetadata", {})
        status, code = int(meta.get("HTTPStatusCode", 0)), str(said.get("Code", ""))
        message = str(said.get("Message", ""))
        if not code or code.isdigit():  # an answer without a document, as to HEAD: botocore repeats the status
            code, message = _usual(status)
        return S3Error(code, message or code, status=status, uri=uri, operation=operation)
    if isinstance(error, ParamValidationError):
        return S3Error("InvalidRequest", str(error), status=400, uri=uri, operation=operation)
    if isinstance(error, CredentialRetrievalError | NoCredentialsError | SSOError | TokenRetrievalError):
        return S3Error("ExpiredToken", str(error), status=400, uri=uri, operation=operation)  # valid at the start
    if isinstance(error, MissingDependencyException):  # awscrt, for the signature of a multi-region access point
        return S3Error("MissingDependency", str(error), status=400, uri=uri, operation=operation)
    why = getattr(error, "kwargs", {}).get("error") if isinstance(error, BotoCoreError) else None
    return unanswered(why if isinstance(why, Exception) else error, uri, operation)


def is_untrusted(error: BaseException | None) -> bool:
    """A certificate that is not trusted now will not be trusted in a minute."""
    from botocore.exceptions import SSLError

    return isinstance(error, SSLError) or "CERTIFICATE_VERIFY_FAILED" in str(error)


def is_elsewhere(error: S3Error) -> bool:
    """The bucket is in another region; botocore finds out which."""
    return error.status in _REDIRECTS or error.code in _WRONG_REGION


@dataclass(frozen=True, kw_only=True, slots=True)
class Extent:
    """Which bytes of an object an answer holds."""

    start: int
    size: int | None
    """Of the whole object, where the answer says."""


def extent_of(status: int, headers: Mapping[str, str]) -> Extent:
    """Where the body begins: some servers answer a range with 200, and with the range or with the whole object."""
    unit, _, rest = headers.get("content-range", "").partition(" ")
    if unit == "bytes":
        span, _, size = rest.partition("/")
        first = span.partition("-")[0]
        if first.isdigit():
            return Extent(start=int(first), size=int(size) if size.isdigit() else None)
    length = headers.get("content-length", "")
    return Extent(start=0, size=int(length) if status == 200 and length.isdigit() else None)  # noqa: PLR2004  OK
