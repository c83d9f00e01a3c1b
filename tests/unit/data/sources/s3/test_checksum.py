"""What S3 gives to check bytes by, and what must not be taken for it."""

import base64
import hashlib
import zlib
from collections.abc import Callable

import botocore.session
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.data.sources.s3.interface import Checksum, StoredChecksum, crc_function
from smlocal.data.sources.s3.range_reader import stored_checksum

DATA = b"the bytes of an object" * 100
SSE_KMS = "x-amz-server-side-encryption-aws-kms-key-id"
FULL, COMPOSITE = {"x-amz-checksum-type": "FULL_OBJECT"}, {"x-amz-checksum-type": "COMPOSITE"}

DIGESTS: dict[str, Callable[[bytes], bytes]] = {
    "crc32": lambda data: zlib.crc32(data).to_bytes(4, "big"),
    "sha1": lambda data: hashlib.sha1(data).digest(),
    "sha256": lambda data: hashlib.sha256(data).digest(),
    "sha512": lambda data: hashlib.sha512(data).digest(),
    "md5": lambda data: hashlib.md5(data).digest(),
}
if crc_function("crc32c") is not None:
    from awscrt import checksums

    DIGESTS["crc32c"] = lambda data: checksums.crc32c(data).to_bytes(4, "big")
    DIGESTS["crc64nvme"] = lambda data: checksums.crc64nvme(data).to_bytes(8, "big")
MD5 = DIGESTS["md5"](DATA).hex()
CRC32 = base64.b64encode(DIGESTS["crc32"](DATA)).decode()


def matches(headers: dict[str, str], data: bytes, lengths: tuple[int, ...] = ()) -> bool:
    checksum = Checksum(stored_checksum(headers, etag=True), lengths)
    for at in range(0, len(data), 999):
        checksum.update(memoryview(data)[at : at + 999])
    return checksum.matches


def header(kind: str, digest: bytes, suffix: str = "") -> dict[str, str]:
    return {f"x-amz-checksum-{kind}": base64.b64encode(digest).decode() + suffix}


@pytest.mark.parametrize(
    "headers",
    [
        {"etag": f'"{MD5}"'},
        {"x-amz-checksum-crc32": "not base64!", "etag": f'"{MD5}"'},
        {"x-amz-checksum-unheard-of": "AAAAAAAAAAA=", "etag": f'"{MD5}"'},
        *(header(kind, digest(DATA)) for kind, digest in DIGESTS.items()),
        *({**header(kind, digest(DATA)), **FULL, "etag": '"0-2"'} for kind, digest in DIGESTS.items()),
    ],
)
def test_a_wrong_byte_is_noticed(headers: dict[str, str]) -> None:
    assert matches(headers, DATA)
    assert not matches(headers, DATA[:-1] + b"!")
    assert not matches(headers, DATA[:-1])


@given(
    kind=st.sampled_from(sorted(DIGESTS)),
    said=st.sampled_from(["suffix and type", "suffix", "type and ETag"]),
    parts=st.lists(st.binary(max_size=2000), min_size=1, max_size=5),
)
def test_a_sum_of_the_sums_of_parts(kind: str, said: str, parts: list[bytes]) -> None:
    digest = DIGESTS[kind]
    count = f"-{len(parts)}"
    headers = header(kind, digest(b"".join(map(digest, parts))), count if "suffix" in said else "")
    headers |= COMPOSITE if "type" in said else {}
    headers |= {"etag": f'"{"0" * 32}{count}"'} if "ETag" in said else {}
    data, lengths = b"".join(parts), tuple(map(len, parts))
    found = stored_checksum(headers, etag=True)
    assert found is not None
    assert found.parts == len(parts)
    assert matches(headers, data, lengths)
    if data:
        assert not matches(headers, bytes([data[0] ^ 1]) + data[1:], lengths)
        assert not matches(headers, data[:-1], lengths)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"etag": f'"{MD5}-2"'},
        {"etag": '"not an md5"'},
        {"etag": f'"{"0" * 32}"', SSE_KMS: "key"},
        {"etag": f'"{"0" * 32}"', "x-amz-server-side-encryption-customer-algorithm": "AES256"},
        {"x-amz-checksum-sha256": "not base64!"},
        {"x-amz-checksum-crc64nvme": CRC32},
        {"x-amz-checksum-unheard-of": "AAAAAAAAAAA="},
        {"x-amz-checksum-xxhash128": "AAAAAAAAAAA="},
        {"x-amz-checksum-crc32": f"{CRC32}-many"},
        {"x-amz-checksum-crc32": f"{CRC32}-0"},
        {"x-amz-checksum-crc32": CRC32, **COMPOSITE},
        {"x-amz-checksum-crc32": CRC32, "etag": f'"{MD5}-2"'},
    ],
)
def test_what_says_nothing_about_the_bytes(headers: dict[str, str]) -> None:
    assert stored_checksum(headers, etag=True) is None
    assert matches(headers, b"anything")


def test_an_etag_counts_only_where_it_is_asked_for() -> None:
    assert stored_checksum({"etag": f'"{MD5}"'}, etag=False) is None
    expected = StoredChecksum(kind="crc32", value=DIGESTS["crc32"](DATA))
    assert stored_checksum({"etag": f'"{MD5}"', "x-amz-checksum-crc32": CRC32}, etag=False) == expected


def test_every_sum_that_the_service_model_knows_is_known_here_except_those_that_need_a_package() -> None:
    model = botocore.session.get_session().get_service_model("s3")
    for name in model.shape_for("ChecksumAlgorithm").enum:
        kind = name.lower()
        if kind not in DIGESTS:
            assert kind.startswith(("xxhash", "crc"))
            continue
        headers = header(kind, DIGESTS[kind](DATA))
        found = stored_checksum(headers, etag=False)
        assert found is not None, name
        assert found.kind == kind
        assert not matches(headers, DATA[1:]), name
