"""XML documents of S3, and how a call may be refused: most refusals are such documents."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser

_NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"
DECLARATION = b'<?xml version="1.0" encoding="UTF-8"?>\n'
_NO_CHARACTER = "\ufffd"
"""In place of a character that XML cannot have."""
_MOST_TAGS = 250_000
"""The most tags of a document that clients send.

The largest, CompleteMultipartUpload, has 10,000 parts with up to eight elements.
"""
_SPECIAL = re.compile('[&<>"\x00-\x08\x0b-\x1f\x7f]')


def document(name: str, content: Mapping[str, Any] | str) -> bytes:
    """A whole answer. A list is an element for each item; members that are None are left out."""
    return DECLARATION + f'<{name} xmlns="{_NAMESPACE}">{_content(content)}</{name}>'.encode()


def error_document(members: Mapping[str, Any]) -> bytes:
    """An error, which has no namespace."""
    return DECLARATION + f"<Error>{_members(members)}</Error>".encode()


class _Tree(TreeBuilder):
    """A document without a document type, so that it has no entities."""

    def doctype(self, *_: object) -> None:
        """Called where one begins."""
        raise malformed()


def parsed(body: bytes) -> Element:
    """The root of what a client has sent, with names as they are without a namespace. It takes long for a large one."""
    if body.count(b"<") > _MOST_TAGS or body.count(b"=") > _MOST_TAGS:  # attributes
        raise malformed()
    # It is read as UTF-8, whatever encoding it declares: its tags could not be found by their bytes in another
    # encoding.
    parser = XMLParser(target=_Tree(), encoding="utf-8")  # noqa: S314 - as above
    try:
        parser.feed(body)
        root: Element = parser.close()
    except (ParseError, ValueError, AssertionError):  # the last for elements that are not closed
        raise malformed() from None
    for each in root.iter():
        each.tag = each.tag.rpartition("}")[2]
    return root


_STATUSES = {
    "AccessDenied": HTTPStatus.FORBIDDEN,
    "BucketAlreadyOwnedByYou": HTTPStatus.CONFLICT,
    "BucketNotEmpty": HTTPStatus.CONFLICT,
    "InternalError": HTTPStatus.INTERNAL_SERVER_ERROR,
    "InvalidAccessKeyId": HTTPStatus.FORBIDDEN,
    "InvalidRange": HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE,
    "MethodNotAllowed": HTTPStatus.METHOD_NOT_ALLOWED,
    "MissingContentLength": HTTPStatus.LENGTH_REQUIRED,
    "NoSuchBucket": HTTPStatus.NOT_FOUND,
    "NoSuchKey": HTTPStatus.NOT_FOUND,
    "NoSuchUpload": HTTPStatus.NOT_FOUND,
    "NotImplemented": HTTPStatus.NOT_IMPLEMENTED,
    "PreconditionFailed": HTTPStatus.PRECONDITION_FAILED,
    "RequestTimeTooSkewed": HTTPStatus.FORBIDDEN,
    "SignatureDoesNotMatch": HTTPStatus.FORBIDDEN,
}
"""By code; all others have 400."""


class S3CallError(Exception):
    """The answer of S3 to a call that it refuses."""

    def __init__(self, code: str, message: str, **members: str) -> None:
        """`members`: the members of the answer beside code and message."""
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.members = members
        self.status = _STATUSES.get(code, HTTPStatus.BAD_REQUEST)


def no_such_bucket(bucket: str) -> S3CallError:
    """No folder of that name."""
    return S3CallError("NoSuchBucket", "The specified bucket does not exist", BucketName=bucket)


def no_such_key(key: str) -> S3CallError:
    """No object of that name."""
    return S3CallError("NoSuchKey", "The specified key does not exist.", Key=key)


def not_emulated(what: str) -> S3CallError:
    """S3 has it, and smlocal does not."""
    return S3CallError("NotImplemented", f"smlocal does not emulate {what}.")


def malformed() -> S3CallError:
    """A client has sent a document that is not the expected one."""
    return S3CallError(
        "MalformedXML", "The XML you provided was not well-formed or did not validate against our published schema"
    )


def moment(seconds: float) -> str:
    """As in `2026-11-23T10:55:00.000Z`."""
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _members(members: Mapping[str, Any]) -> str:
    return "".join(_element(name, value) for name, value in members.items())


def _element(name: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return "".join(_element(name, each) for each in value)
    return f"<{name}>{_content(value)}</{name}>"


def _content(value: Any) -> str:
    if isinstance(value, Mapping):
        return _members(value)
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return _SPECIAL.sub(_reference, text)


def _reference(found: re.Match[str]) -> str:
    return f"&#{ord(found[0])};" if found[0] >= " " or found[0] == "\r" else _NO_CHARACTER
