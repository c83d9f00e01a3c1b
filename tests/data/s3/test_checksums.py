"""Objects that come in one range or in many are compared with every kind of checksum that S3 keeps of them.

moto computes some kinds as if they were others, and says of no part of an object's sum that it is one: it is told the
right sums, and its word about parts is put right on the way.
"""

import base64
import hashlib
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.data.s3.troubled_proxy import Trouble, TroubledProxy, passed, with_flipped_byte, with_header
from tests.kit.s3_servers import S3Server, S3Servers

from smlocal.data.sources.s3.client import S3Client
from smlocal.data.sources.s3.download import download_all
from smlocal.data.sources.s3.interface import S3Error, S3Object
from smlocal.data.sources.s3.object_stream import ObjectStream

PART = 1 << 20
SIZE = 3 * PART + 7
KINDS = ["CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256"]


def digest(kind: str, data: bytes) -> bytes:
    if kind == "CRC32":
        return zlib.crc32(data).to_bytes(4, "big")
    if kind.startswith("CRC"):
        checksums = pytest.importorskip("awscrt.checksums")
        return int(getattr(checksums, kind.lower())(data)).to_bytes(4 if kind == "CRC32C" else 8, "big")
    return hashlib.new(kind, data).digest()


def text(sum_: bytes) -> str:
    return base64.b64encode(sum_).decode()


@pytest.fixture
def s3(s3_servers: S3Servers) -> S3Server:
    """The other keeps no checksums."""
    return s3_servers("moto")


@pytest.fixture
def put(s3: S3Server, bucket: str) -> Callable[[str, bytes, str], S3Object]:
    def store(key: str, data: bytes, kind: str) -> S3Object:
        given: Any = {"ChecksumAlgorithm": kind, f"Checksum{kind}": text(digest(kind, data))}
        etag = s3.client().put_object(Bucket=bucket, Key=key, Body=data, **given)["ETag"]
        return S3Object(bucket=bucket, key=key, size=len(data), etag=etag)

    return store


def fetch(store: S3Client, wanted: S3Object, path: Path, *, part: int = PART) -> list[int]:
    told: list[int] = []
    download_all(store, [(wanted, str(path))], part=part, progress=lambda count, _: told.append(count))
    return told


@pytest.mark.parametrize("kind", KINDS)
def test_one_wrong_byte_in_one_range_of_many(
    proxy: TroubledProxy,
    troubled: S3Client,
    put: Callable[[str, bytes, str], S3Object],
    bytes_of: Callable[[int], bytes],
    tmp_path: Path,
    kind: str,
) -> None:
    data = bytes_of(SIZE)
    wanted = put("k", data, kind)
    assert sum(fetch(troubled, wanted, tmp_path / "sound")) == SIZE
    assert len(proxy.requests) == 5  # four ranges, and one question
    proxy.next(passed, with_flipped_byte)
    assert sum(fetch(troubled, wanted, tmp_path / "fetched again")) == SIZE
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"sound": data, "fetched again": data}
    proxy.next(with_flipped_byte, passed, passed, passed, passed, with_flipped_byte)
    with pytest.raises(S3Error, match=r"BadDigest: The received bytes do not match the checksum") as error:
        fetch(troubled, wanted, tmp_path / "wrong")
    assert error.value.uri == wanted.uri
    assert not (tmp_path / "wrong").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_one_wrong_byte_in_an_object_of_one_range(
    proxy: TroubledProxy, troubled: S3Client, put: Callable[[str, bytes, str], S3Object], tmp_path: Path, kind: str
) -> None:
    wanted = put("k", b"one range", kind)
    proxy.next(with_flipped_byte)
    fetch(troubled, wanted, tmp_path / "k")
    assert (tmp_path / "k").read_bytes() == b"one range"
    # The sum is the object's own, not just the MD5 in its ETag.
    other = with_header(f"x-amz-checksum-{kind.lower()}", text(digest(kind, b"another")))
    proxy.next(other, other)
    with pytest.raises(S3Error, match="BadDigest"):
        troubled.read_into(wanted, 0, memoryview(bytearray(9)))


def test_an_object_of_unknown_size(
    proxy: TroubledProxy,
    troubled: S3Client,
    put: Callable[[str, bytes, str], S3Object],
    bytes_of: Callable[[int], bytes],
    tmp_path: Path,
) -> None:
    data = bytes_of(SIZE)
    wanted = put("k", data, "CRC64NVME")
    proxy.next(with_flipped_byte)
    fetch(troubled, S3Object(bucket=wanted.bucket, key="k"), tmp_path / "k")
    assert (tmp_path / "k").read_bytes() == data


def test_readers_of_pieces_notice_as_well(
    proxy: TroubledProxy,
    troubled: S3Client,
    put: Callable[[str, bytes, str], S3Object],
    bytes_of: Callable[[int], bytes],
) -> None:
    data = bytes_of(SIZE)
    wanted = put("k", data, "CRC64NVME")
    with closing(ObjectStream(troubled, [wanted, wanted], budget=4 << 20, threads=4)) as stream:
        proxy.next(with_flipped_byte)
        stream.open_next()
        seen = bytearray()
        with pytest.raises(S3Error, match="BadDigest"):
            _read_on(stream, seen)
        assert 0 < len(seen) < SIZE
        stream.open_next()
        seen.clear()
        _read_on(stream, seen)
        assert seen == data


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize("kind", ["CRC32", "SHA256"])
@pytest.mark.parametrize("sizes", [(5 << 20, 5 << 20, 100), (5 << 20, 6 << 20)], ids=["even", "uneven"])
def test_the_sum_of_the_sums_of_parts(
    s3: S3Server,
    proxy: TroubledProxy,
    troubled: S3Client,
    bucket: str,
    bytes_of: Callable[[int], bytes],
    tmp_path: Path,
    kind: str,
    sizes: tuple[int, ...],
) -> None:
    data = bytes_of(sum(sizes))
    pieces = [data[sum(sizes[:n]) : sum(sizes[: n + 1])] for n in range(len(sizes))]
    client, at = s3.client(), {"Bucket": bucket, "Key": "k"}
    upload = {**at, "UploadId": client.create_multipart_upload(**at, ChecksumAlgorithm=kind)["UploadId"]}
    parts = [
        {"PartNumber": n, "ETag": client.upload_part(**upload, PartNumber=n, Body=piece)["ETag"]}
        for n, piece in enumerate(pieces, 1)
    ]
    client.complete_multipart_upload(**upload, MultipartUpload={"Parts": parts})
    wanted = next(troubled.list_objects(bucket, "k"))
    whole = text(digest(kind, b"".join(digest(kind, piece) for piece in pieces)))
    said = with_header(f"x-amz-checksum-{kind.lower()}", f"{whole}-{len(sizes)}")

    proxy.next(said, method="HEAD")
    fetch(troubled, wanted, tmp_path / "sound", part=4 << 20)
    assert (tmp_path / "sound").read_bytes() == data
    in_one = bytearray(len(data))
    assert troubled.read_into(wanted, 0, memoryview(in_one)) == len(data)
    assert in_one == data

    wrong: list[Trouble] = [with_flipped_byte] * 6
    _say_again(proxy, said, len(sizes))
    proxy.next(*wrong)
    with pytest.raises(S3Error, match="BadDigest"):
        fetch(troubled, wanted, tmp_path / "wrong", part=4 << 20)
    assert not (tmp_path / "wrong").exists()


def _read_on(stream: ObjectStream, seen: bytearray) -> None:
    while piece := stream.read():
        seen += piece


def _say_again(proxy: TroubledProxy, said: Trouble, count: int) -> None:
    """For two attempts: what is asked about the object, and about its parts, all of them if they may differ."""
    proxy.next(said, *[passed] * (1 if count == 3 else count), said, method="HEAD")
