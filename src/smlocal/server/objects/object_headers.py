"""Headers that belong to an object, those of an answer, and those that smlocal does not emulate."""

import re
from collections.abc import Mapping

from smlocal.server.objects.attributes import DEFAULT_TYPE
from smlocal.server.objects.s3_error import S3Error, not_emulated

_KEPT = ("cache-control", "content-disposition", "content-encoding", "content-language", "content-type", "expires")
_CHOSEN = {f"response-{name}": name for name in _KEPT}
"""Members of a query that set a header of the answer: S3 has these six, and a client must not set any other."""
_VALUE = re.compile(r"(?:[!-~\x80-\xff](?:[\t -~\x80-\xff]*[!-~\x80-\xff])?)?")
_ENCRYPTION = (
    "x-amz-server-side-encryption",
    "x-amz-server-side-encryption-aws-kms-key-id",
    "x-amz-server-side-encryption-bucket-key-enabled",
)
"""Recorded and returned, and nothing is encrypted: SDK v2 asks for it with all code that it uploads."""
_METADATA = "x-amz-meta-"
_MOST_METADATA = 2048
_NOT_EMULATED = (
    "x-amz-acl",
    "x-amz-grant-",
    "x-amz-object-lock-",
    "x-amz-server-side-encryption-customer-",
    "x-amz-copy-source-server-side-encryption",
    "x-amz-storage-class",
    "x-amz-tagging",
    "x-amz-website-redirect-location",
    "x-amz-write-offset-bytes",
)
_AS_IT_IS = {
    ("x-amz-acl", "private"),
    ("x-amz-acl", "bucket-owner-full-control"),
    ("x-amz-storage-class", "STANDARD"),
}
"""What S3 does by itself when nobody asks for it."""


def chosen_headers(query: Mapping[str, str], *, signed: bool) -> dict[str, str]:
    """The headers of an answer that its request chooses; `S3Error` for a value that no header can have."""
    chosen = {}
    for member, value in query.items():
        name = _CHOSEN.get(member)
        if name is None:
            continue
        if not signed:
            raise S3Error(
                "InvalidRequest", "Request specific response headers cannot be used for anonymous GET requests."
            )
        chosen[name] = value.strip(" \t")
        if _VALUE.fullmatch(chosen[name]) is None:
            raise S3Error(
                "InvalidArgument",
                "Header value cannot be represented using ISO-8859-1.",
                ArgumentName=member,
                ArgumentValue=value,
            )
    return chosen


def headers_to_keep(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that are returned with the object; `S3Error` for one that is not emulated."""
    for name, value in headers.items():
        if name.startswith(_NOT_EMULATED) and (name, value) not in _AS_IT_IS:
            raise not_emulated(f"the header {name}: {value}")
    metadata = {name: value for name, value in headers.items() if name.startswith(_METADATA)}
    if sum(len(name) - len(_METADATA) + len(value) for name, value in metadata.items()) > _MOST_METADATA:
        raise S3Error("MetadataTooLarge", "Your metadata headers exceed the maximum allowed metadata size")
    kept = {name: headers[name] for name in (*_KEPT, *_ENCRYPTION) if name in headers}
    codings = [each.strip() for each in kept.pop("content-encoding", "").split(",")]
    coding = ", ".join(each for each in codings if each not in {"", "aws-chunked"})
    return {
        "content-type": DEFAULT_TYPE,
        **kept,
        **({"content-encoding": coding} if coding else {}),
        **metadata,
    }
