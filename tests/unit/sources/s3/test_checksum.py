"""What S3 gives to check bytes by, and what must not be taken for it."""

import base64
import hashlib
import zlib

import pytest

from smlocal.sources.s3.checksum import Checksum

DATA = b"the bytes of an object" * 1000
MD5 = hashlib.md5(DATA).hexdigest()
CRC32 = base64.b64encode(zlib.crc32(DATA).to_bytes(4, "big")).decode()
SHA1 = base64.b64encode(hashlib.sha1(DATA).digest()).decode()
SHA256 = base64.b64encode(hashlib.sha256(DATA).digest()).decode()
SSE_KMS = "x-amz-server-side-encryption-aws-kms-key-id"


def matches(headers: dict[str, str], data: bytes) -> bool:
    checksum = Checksum(headers)
    for at in range(0, len(data), 999):
        checksum.update(memoryview(data)[at : at + 999])
    return checksum.matches


@pytest.mark.parametrize(
    "headers",
    [
        {"etag": f'"{MD5}"'},
        {"x-amz-checksum-crc32": CRC32},
        {"x-amz-checksum-crc32": CRC32, "x-amz-checksum-type": "FULL_OBJECT", "etag": '"0-2"'},
        {"x-amz-checksum-sha1": SHA1},
        {"x-amz-checksum-sha256": SHA256, "etag": '"00000000000000000000000000000000"'},
        {"x-amz-checksum-crc32": f"{CRC32}-3", "etag": f'"{MD5}"'},
        {"x-amz-checksum-crc64nvme": "AAAAAAAAAAA=", "etag": f'"{MD5}"'},
    ],
)
def test_a_wrong_byte_is_noticed(headers: dict[str, str]) -> None:
    assert matches(headers, DATA)
    assert not matches(headers, DATA[:-1] + b"!")
    assert not matches(headers, DATA[:-1])


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"etag": f'"{MD5}-2"'},
        {"etag": '"not an md5"'},
        {"etag": f'"{"0" * 32}"', SSE_KMS: "key"},
        {"etag": f'"{"0" * 32}"', "x-amz-server-side-encryption-customer-algorithm": "AES256"},
        {"x-amz-checksum-sha256": SHA256, "x-amz-checksum-type": "COMPOSITE"},
        {"x-amz-checksum-sha256": "not base64!"},
    ],
)
def test_what_says_nothing_about_the_bytes(headers: dict[str, str]) -> None:
    assert matches(headers, b"anything")
