"""What S3 says an object's bytes add up to, where it says so and adding up costs little."""

from collections.abc import Callable, Mapping
from typing import Any

_MD5_LENGTH = 32
_HASHES = ("sha256", "sha1")
_ENCRYPTED = ("x-amz-server-side-encryption-customer-algorithm", "x-amz-server-side-encryption-aws-kms-key-id")
"""With keys of the customer's own the ETag is not an MD5 of what is read."""


class Checksum:
    """Adds up; an object without a sum that can be checked always matches."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        """Choose from the headers of an answer that holds the whole object."""
        self._update: Callable[[memoryview], None] | None = None
        self._digest: Callable[[], bytes] = bytes
        self._wanted = b""
        if headers.get("x-amz-checksum-type", "FULL_OBJECT") == "FULL_OBJECT" and self._choose(headers):
            return
        etag = headers.get("etag", "").strip('"').lower()
        if _is_md5(etag) and not any(name in headers for name in _ENCRYPTED):
            self._hash("md5", bytes.fromhex(etag))

    def update(self, data: memoryview) -> None:
        """Add the next bytes."""
        if self._update is not None:
            self._update(data)

    @property
    def is_known(self) -> bool:
        """Whether S3 has said anything that can be checked."""
        return self._update is not None

    @property
    def matches(self) -> bool:
        """Whether the bytes are those that S3 was given."""
        return self._update is None or self._digest() == self._wanted

    def _choose(self, headers: Mapping[str, str]) -> bool:
        for kind in ("crc32", *_HASHES):
            value = headers.get(f"x-amz-checksum-{kind}", "")
            wanted = _decoded(value)
            if not wanted:
                continue
            if kind == "crc32":
                self._crc(wanted)
            else:
                self._hash(kind, wanted)
            return True
        return False

    def _hash(self, kind: str, wanted: bytes) -> None:
        import hashlib

        # No protection from attackers is meant, and none is lost: S3's own sums are kept.
        made: Any = hashlib.new(kind, usedforsecurity=False)
        self._update, self._digest, self._wanted = made.update, made.digest, wanted

    def _crc(self, wanted: bytes) -> None:
        from isal.isal_zlib import crc32

        value = 0

        def update(data: memoryview) -> None:
            nonlocal value
            value = crc32(data, value)

        self._update, self._digest, self._wanted = update, lambda: value.to_bytes(4, "big"), wanted


def _is_md5(text: str) -> bool:
    return len(text) == _MD5_LENGTH and not set(text) - set("0123456789abcdef")


def _decoded(value: str) -> bytes:
    """Nothing for no sum at all, or for a sum of sums (`…-3`), which older servers do not call COMPOSITE."""
    if not value or "-" in value:
        return b""
    import base64
    import binascii

    try:
        return base64.b64decode(value, validate=True)
    except binascii.Error:
        return b""
