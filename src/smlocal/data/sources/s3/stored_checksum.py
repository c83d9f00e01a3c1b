"""The checksum that S3 has for an object: read from the headers of an answer, or asked for with HEAD."""

import base64
import binascii
from collections.abc import Callable, Mapping

from smlocal.data.sources.s3.checksum import CRC_BYTES, Checksum, StoredChecksum, crc_function
from smlocal.data.sources.s3.interface import S3Error

CHECKSUM_MODE = {"x-amz-checksum-mode": "ENABLED"}
"""The request header with which S3 sends the checksum of a whole object."""

_BYTES = {**CRC_BYTES, "sha256": 32, "sha1": 20, "sha512": 64, "md5": 16}
"""The checksums of S3 that can be computed here, the fastest first, with their lengths."""
_OWN_KEYS = ("x-amz-server-side-encryption-customer-algorithm", "x-amz-server-side-encryption-aws-kms-key-id")
"""With these the ETag is not an MD5 of the object's bytes."""
_REFUSALS = range(400, 500)
_NOT_IMPLEMENTED = 501


def expected_checksum(
    size: int,
    headers: Mapping[str, str] | None,
    *,
    head: Callable[[], Mapping[str, str]],
    head_of_part: Callable[[int], Mapping[str, str]],
    exactly: bool,
    needs_awscrt: Callable[[str], None],
) -> Checksum:
    """The checksum for the bytes of an object; `headers` are those of an answer with all of it, if there is one.

    `exactly` also asks for the length of each part, instead of assuming that all are as long as the first.
    `needs_awscrt` is told the kind of a checksum that cannot be computed without awscrt, if there is no other.
    """
    stored = stored_checksum(headers, etag=True) if headers is not None else None
    if stored is None and (headers is None or "content-range" in headers):
        # S3 sends no checksum with a range, even of all bytes. An MD5 in the ETag is not used then: for 1 GiB it takes
        # 1.9 s, more than twice as long as the download.
        headers = head()
        stored = stored_checksum(headers, etag=False)
    if stored is None:
        for kind in CRC_BYTES:
            if f"x-amz-checksum-{kind}" in (headers or {}) and crc_function(kind) is None:
                needs_awscrt(kind)
                break
        return Checksum(None)
    if not stored.parts:
        return Checksum(stored)
    lengths = part_lengths(head_of_part, size, stored.parts, exactly=exactly)
    return Checksum(stored if lengths else None, lengths or ())


def stored_checksum(headers: Mapping[str, str], *, etag: bool) -> StoredChecksum | None:
    """The checksum in the headers of a whole object; with `etag` also an MD5 in the ETag."""
    for kind in _BYTES:
        if kind in CRC_BYTES and crc_function(kind) is None:
            continue
        text = headers.get(f"x-amz-checksum-{kind}")
        if text and (found := _parsed(kind, text, headers)):
            return found
    md5 = headers.get("etag", "").strip('"').lower()
    is_md5 = len(md5) == 2 * _BYTES["md5"] and not set(md5) - set("0123456789abcdef")
    if etag and is_md5 and not any(name in headers for name in _OWN_KEYS):
        return StoredChecksum(kind="md5", value=bytes.fromhex(md5))
    return None


def _parsed(kind: str, text: str, headers: Mapping[str, str]) -> StoredChecksum | None:
    encoded, _, count = text.partition("-")
    try:
        value = base64.b64decode(encoded, validate=True)
    except binascii.Error:
        return None
    if len(value) != _BYTES[kind]:
        return None
    parts_of_etag = headers.get("etag", "").strip('"').partition("-")[2]
    given_type = headers.get("x-amz-checksum-type", "COMPOSITE" if count else "")
    if given_type == "COMPOSITE":
        count = count or parts_of_etag
        return StoredChecksum(kind=kind, value=value, parts=int(count)) if count.isdecimal() and int(count) else None
    # Without a type, the checksum of an object of several parts may be either.
    return StoredChecksum(kind=kind, value=value) if given_type == "FULL_OBJECT" or not parts_of_etag else None


def part_lengths(
    head: Callable[[int], Mapping[str, str]], size: int, count: int, *, exactly: bool
) -> tuple[int, ...] | None:
    """The lengths of an object's parts; None where the server does not say.

    `head` asks about one part. Nearly always all but the last are as long as the first; `exactly` asks for each.
    """
    if count == 1:
        return (size,)
    try:
        first = _length(head(1), count)
        if first and not exactly and (count - 1) * first < size <= count * first:
            return *(first for _ in range(count - 1)), size - (count - 1) * first
        lengths = (first, *(_length(head(number), count) for number in range(2, count + 1))) if first else ()
    except S3Error as error:
        if error.status in _REFUSALS or error.status == _NOT_IMPLEMENTED:
            return None  # an object that is gone is reported where it is read
        raise
    return lengths if sum(lengths) == size else None


def _length(headers: Mapping[str, str], count: int) -> int:
    """The length of a part; 0 if the answer is about something else."""
    length = headers.get("content-length", "")
    return int(length) if length.isdecimal() and headers.get("x-amz-mp-parts-count") == str(count) else 0
