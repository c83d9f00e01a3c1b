"""What S3's answers say: errors, small documents, and which bytes of an object they hold."""

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
_EXPIRED = {"ExpiredToken", "ExpiredTokenException", "RequestExpired", "TokenRefreshRequired"}


def error_of(status: int, body: bytes, uri: str, operation: str) -> S3Error:
    """The error of an answer, in S3's words or, where there are none (HEAD has no body), in its usual ones."""
    from http import HTTPStatus

    code, message = _said(body) if body else ("", "")
    if not code:
        try:
            phrase = HTTPStatus(status).phrase
        except ValueError:
            phrase = "Unknown"
        code, message = _WORDS.get(status, (phrase.replace(" ", ""), phrase))
    return S3Error(code, message, status=status, uri=uri, operation=operation)


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


def document_of(body: bytes, wanted: str, uri: str, operation: str) -> dict[str, str]:
    """The texts right below the top of an answer, `wanted` among them; an error's document raises its `S3Error`.

    ValueError for anything else. The name at the top is not the same with all servers.
    """
    from xml.etree.ElementTree import ParseError, fromstring

    try:
        top = fromstring(body.strip())  # noqa: S314  as above
    except ParseError as error:
        raise ValueError(str(error)) from error
    if plain_tag(top.tag) == "Error":
        code, message = _said(body.strip())
        raise S3Error(code, message, status=200, uri=uri, operation=operation)
    texts = {plain_tag(each.tag): (each.text or "").strip() for each in top}
    if not texts.get(wanted):
        raise ValueError(f"it is a {plain_tag(top.tag)} without {wanted}")
    return texts


def _said(body: bytes) -> tuple[str, str]:
    from xml.etree.ElementTree import ParseError, fromstring

    try:
        top = fromstring(body)  # noqa: S314  as above
    except ParseError:
        return "", ""  # a page of HTML from something in between
    texts = {plain_tag(each.tag): (each.text or "").strip() for each in top.iter()}
    return texts.get("Code", ""), texts.get("Message", "") or texts.get("Code", "")


def plain_tag(tag: str) -> str:
    """A tag without its name space, which not every server gives."""
    return tag.rpartition("}")[2]


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
