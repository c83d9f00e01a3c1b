"""Conditional headers: If-Match and the others, for reading, copying and putting."""

from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from smlocal.server.objects.attributes import Attributes
from smlocal.server.objects.s3_error import S3Error


def reading_status(headers: Mapping[str, str], *, etag: str, modified: float, before: str = "if-") -> HTTPStatus:
    """OK, or why an object is not to be read: NOT_MODIFIED or PRECONDITION_FAILED. `before`: x-amz-copy-source-if-."""
    match, none_match = headers.get(f"{before}match"), headers.get(f"{before}none-match")
    since = _seconds(headers.get(f"{before}modified-since"))
    until = _seconds(headers.get(f"{before}unmodified-since"))
    if match is not None:
        if not _names(match, etag):
            return HTTPStatus.PRECONDITION_FAILED
    elif until is not None and int(modified) > until:
        return HTTPStatus.PRECONDITION_FAILED
    if none_match is not None:
        if _names(none_match, etag):
            return HTTPStatus.NOT_MODIFIED
    elif since is not None and int(modified) <= since:
        return HTTPStatus.NOT_MODIFIED
    return HTTPStatus.OK


def writing_condition(headers: Mapping[str, str]) -> Callable[[Attributes | None], None] | None:
    """What the object must be that is replaced or deleted."""
    match, none_match = headers.get("if-match"), headers.get("if-none-match")
    if match is None and none_match is None:
        return None

    def check(present: Attributes | None) -> None:
        if match is not None and present is None:
            raise S3Error("NoSuchKey", "The specified key does not exist.")
        if match is not None and present is not None and not _names(match, present.etag):
            raise precondition_failed("If-Match")
        if none_match is not None and present is not None and _names(none_match, present.etag):
            raise precondition_failed("If-None-Match")

    return check


def precondition_failed(header: str) -> S3Error:
    """The object is not what the client expects."""
    return S3Error(
        "PreconditionFailed", "At least one of the pre-conditions you specified did not hold", Condition=header
    )


def _names(stated: str, etag: str) -> bool:
    given = [each.strip().removeprefix("W/").strip('"') for each in stated.split(",")]
    return etag in given or "*" in given


def _seconds(stated: str | None) -> float | None:
    try:
        return None if stated is None else parsedate_to_datetime(stated).timestamp()
    except ValueError:
        return None
