"""What S3 says it has, compared with what it was sent."""

import hashlib

import pytest

from smlocal.sources.s3.body import Text, crc32_of
from smlocal.sources.s3.writer import Part, _etag, _has_arrived, _joined

BODY = Text(b"123456789")
CRC32 = crc32_of(BODY)
MD5 = hashlib.md5(b"123456789").hexdigest()
OTHER = "0" * 32
KMS = {"x-amz-server-side-encryption-aws-kms-key-id": "arn:…"}


@pytest.mark.parametrize(
    ("headers", "crc32", "signed", "arrived"),
    [
        ({"x-amz-checksum-crc32": CRC32, "etag": OTHER}, CRC32, False, True),
        ({"x-amz-checksum-crc32": "AAAAAA==", "etag": MD5}, CRC32, True, False),
        ({"etag": f'"{MD5}"'}, CRC32, False, True),
        ({"etag": f'"{OTHER}"'}, CRC32, False, False),
        ({"etag": f'"{OTHER}"'}, "", False, False),
        ({"etag": f'"{OTHER}"'}, CRC32, True, True),
        ({"etag": f'"{OTHER}"', **KMS}, CRC32, False, True),
        ({"etag": '"of-its-own-kind"'}, "", False, True),
        ({}, "", False, True),
    ],
)
def test_what_has_arrived(headers: dict[str, str], crc32: str, signed: bool, arrived: bool) -> None:
    assert _has_arrived(BODY, headers, crc32, signed=signed) is arrived


def part(number: int, data: bytes) -> Part:
    etag = f'"{hashlib.md5(data).hexdigest()}"'
    return Part(number=number, etag=etag, size=len(data), crc32=crc32_of(Text(data)))


def test_the_sum_of_all_parts_is_that_of_the_whole() -> None:
    assert _joined([part(1, b"1234"), part(2, b"5"), part(3, b"6789")]) == CRC32


def test_the_etag_of_all_parts_is_s3s() -> None:
    parts = [part(1, b"1234"), part(2, b"56789")]
    sums = hashlib.md5(b"1234").digest() + hashlib.md5(b"56789").digest()
    assert _etag(parts) == f"{hashlib.md5(sums).hexdigest()}-2"
    assert _etag([Part(number=1, etag='"of-its-own-kind"', size=1, crc32="")]) == ""
