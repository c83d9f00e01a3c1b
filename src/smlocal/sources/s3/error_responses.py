"""Error responses of S3 and failures to get one, as `S3Error`."""

from smlocal.sources.s3.interface import S3Error

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
