"""What S3 says an object's bytes add up to."""

from collections.abc import Mapping

from smlocal.quick_dataclass import dataclass
from smlocal.sources.s3.crc import LENGTHS, adding

_KINDS = {**LENGTHS, "sha256": 32, "sha1": 20, "sha512": 64, "md5": 16}
"""Those of S3's that can be computed here, with the bytes that each has; those that cost least come first."""
_ENCRYPTED = ("x-amz-server-side-encryption-customer-algorithm", "x-amz-server-side-encryption-aws-kms-key-id")
"""With keys of the customer's own the ETag is not an MD5 of what is read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """A sum, and of what it is one."""

    kind: str
    wanted: bytes
    parts: int = 0
    """How many parts have sums of their own, of which this is the sum; 0 for the sum of all bytes."""


def claim_of(headers: Mapping[str, str], *, etag: bool) -> Claim | None:
    """What the headers of a whole object claim; with `etag` an MD5 that stands there will do."""
    for kind in _KINDS:
        if kind in LENGTHS and adding(kind) is None:
            continue
        given = headers.get(f"x-amz-checksum-{kind}")
        if given and (claim := _claim(kind, given, headers)):
            return claim
    text = headers.get("etag", "").strip('"').lower()
    if etag and _is_md5(text) and not any(name in headers for name in _ENCRYPTED):
        return Claim(kind="md5", wanted=bytes.fromhex(text))
    return None


def _claim(kind: str, given: str, headers: Mapping[str, str]) -> Claim | None:
    value, _, count = given.partition("-")
    wanted = _decoded(value)
    if len(wanted) != _KINDS[kind]:
        return None
    of_etag = headers.get("etag", "").strip('"').partition("-")[2]
    said = headers.get("x-amz-checksum-type", "COMPOSITE" if count else "")
    if said == "COMPOSITE":
        count = count or of_etag
        return Claim(kind=kind, wanted=wanted, parts=int(count)) if count.isdecimal() and int(count) else None
    # Without a word on it the sum of an object of many parts may be either.
    return Claim(kind=kind, wanted=wanted) if said == "FULL_OBJECT" or not of_etag else None


def _is_md5(text: str) -> bool:
    return len(text) == 2 * _KINDS["md5"] and not set(text) - set("0123456789abcdef")


def _decoded(value: str) -> bytes:
    import base64
    import binascii

    try:
        return base64.b64decode(value, validate=True)
    except binascii.Error:
        return b""
