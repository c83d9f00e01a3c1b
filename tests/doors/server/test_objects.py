"""S3 on folders, as boto3 drives it."""

import os
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from boto3.s3.transfer import TransferConfig
from botocore.exceptions import ClientError

MIB = 1 << 20


@pytest.fixture
def s3(endpoint: Any) -> Any:
    client = endpoint.client("s3")
    client.create_bucket(Bucket="data")
    return client


@pytest.fixture
def folder(endpoint: Any) -> Path:
    return Path(endpoint.serving.buckets) / "data"


def refusal(call: Any, **arguments: Any) -> tuple[str, int]:
    with pytest.raises(ClientError) as refused:
        call(**arguments)
    answer = refused.value.response
    return answer["Error"]["Code"], answer["ResponseMetadata"]["HTTPStatusCode"]


def keys(s3: Any, **arguments: Any) -> list[str]:
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket="data", **arguments)
    return [each["Key"] for page in pages for each in page.get("Contents", ())]


def test_a_bucket_is_a_folder(s3: Any, endpoint: Any, folder: Path) -> None:
    assert [each["Name"] for each in s3.list_buckets()["Buckets"]] == ["data"]
    assert s3.head_bucket(Bucket="data", ExpectedBucketOwner=endpoint.serving.account)["BucketRegion"] == "us-east-1"
    assert refusal(s3.head_bucket, Bucket="data", ExpectedBucketOwner="210987654321") == ("403", 403)
    assert refusal(s3.head_bucket, Bucket="none")[1] == 404
    assert s3.get_bucket_location(Bucket="data")["LocationConstraint"] is None
    assert folder.is_dir()
    (folder / "here").write_text("x")
    assert refusal(s3.delete_bucket, Bucket="data") == ("BucketNotEmpty", 409)
    s3.delete_object(Bucket="data", Key="here")
    s3.delete_bucket(Bucket="data")
    assert not folder.exists()
    assert refusal(s3.list_objects_v2, Bucket="data") == ("NoSuchBucket", 404)


def test_an_object_is_a_file_with_what_was_said_of_it(s3: Any, folder: Path) -> None:
    put = s3.put_object(
        Bucket="data", Key="a/b c+ü.txt", Body=b"hello", ContentType="text/plain", Metadata={"color": "red"}
    )
    assert (folder / "a" / "b c+ü.txt").read_bytes() == b"hello"
    got = s3.get_object(Bucket="data", Key="a/b c+ü.txt", ChecksumMode="ENABLED")
    assert got["Body"].read() == b"hello"
    assert got["ETag"] == put["ETag"] == '"5d41402abc4b2a76b9719d911017c592"'
    assert got["Metadata"] == {"color": "red"}
    assert got["ContentType"] == "text/plain"
    assert got["ChecksumCRC32"] == put["ChecksumCRC32"]
    head = s3.head_object(Bucket="data", Key="a/b c+ü.txt")
    assert head["ContentLength"] == 5
    assert head["LastModified"] == got["LastModified"]

    (folder / "a" / "b c+ü.txt").write_bytes(b"changed by a program")
    head = s3.head_object(Bucket="data", Key="a/b c+ü.txt")
    assert head["ETag"] != put["ETag"]
    assert head["Metadata"] == {}
    assert s3.get_object(Bucket="data", Key="a/b c+ü.txt")["Body"].read() == b"changed by a program"


@pytest.mark.parametrize(
    ("stated", "answer"),
    [
        ("bytes=2-4", b"234"),
        ("bytes=7-", b"789"),
        ("bytes=-3", b"789"),
        ("bytes=5-500", b"56789"),
        ("bytes=-500", b"0123456789"),
        ("lines=1-2", b"0123456789"),
    ],
)
def test_ranges(s3: Any, stated: str, answer: bytes) -> None:
    s3.put_object(Bucket="data", Key="digits", Body=b"0123456789")
    got = s3.get_object(Bucket="data", Key="digits", Range=stated)
    assert got["Body"].read() == answer
    assert got["ContentLength"] == len(answer)
    assert refusal(s3.get_object, Bucket="data", Key="digits", Range="bytes=10-")[0] == "InvalidRange"


def test_conditions(s3: Any) -> None:
    etag = s3.put_object(Bucket="data", Key="k", Body=b"1", IfNoneMatch="*")["ETag"]
    modified = s3.head_object(Bucket="data", Key="k")["LastModified"]
    assert refusal(s3.put_object, Bucket="data", Key="k", Body=b"2", IfNoneMatch="*") == ("PreconditionFailed", 412)
    assert refusal(s3.get_object, Bucket="data", Key="k", IfNoneMatch=etag)[1] == 304
    assert refusal(s3.get_object, Bucket="data", Key="k", IfModifiedSince=modified)[1] == 304
    assert refusal(s3.get_object, Bucket="data", Key="k", IfMatch='"other"') == ("PreconditionFailed", 412)
    assert s3.get_object(Bucket="data", Key="k", IfMatch=etag)["Body"].read() == b"1"
    assert refusal(s3.put_object, Bucket="data", Key="k", Body=b"2", IfMatch='"other"')[0] == "PreconditionFailed"
    s3.put_object(Bucket="data", Key="k", Body=b"2", IfMatch=etag)
    assert s3.get_object(Bucket="data", Key="k")["Body"].read() == b"2"


def test_listings_are_in_the_order_of_bytes_and_come_in_pages(s3: Any, folder: Path) -> None:
    names = ["a", "b-c", "b/c", "b/d/e", "b0", "é/x", "z z/+&<"]
    for name in names:
        s3.put_object(Bucket="data", Key=name, Body=b"")
    (folder / "empty" / "inside").mkdir(parents=True)
    os.symlink("/etc", folder / "link")
    expected = sorted(names, key=str.encode)
    assert keys(s3) == expected
    for size in (1, 2, 3):
        assert keys(s3, PaginationConfig={"PageSize": size}) == expected
    assert keys(s3, Prefix="b/") == ["b/c", "b/d/e"]
    assert keys(s3, Prefix="b") == ["b-c", "b/c", "b/d/e", "b0"]
    assert keys(s3, StartAfter="b/c") == ["b/d/e", "b0", "z z/+&<", "é/x"]
    for size in (1, 2, 1000):
        pages = list(
            s3.get_paginator("list_objects_v2").paginate(
                Bucket="data", Delimiter="/", PaginationConfig={"PageSize": size}
            )
        )
        assert [each["Key"] for page in pages for each in page.get("Contents", ())] == ["a", "b-c", "b0"]
        prefixes = [each["Prefix"] for page in pages for each in page.get("CommonPrefixes", ())]
        assert prefixes == ["b/", "z z/", "é/"]
    old = s3.get_paginator("list_objects").paginate(Bucket="data", Delimiter="/", PaginationConfig={"PageSize": 2})
    assert [each["Prefix"] for page in old for each in page.get("CommonPrefixes", ())] == ["b/", "z z/", "é/"]
    found = s3.list_objects_v2(Bucket="data", Delimiter="-", Prefix="b")
    assert [each["Prefix"] for each in found["CommonPrefixes"]] == ["b-"]


def test_folder_markers(s3: Any, folder: Path) -> None:
    s3.put_object(Bucket="data", Key="dir/")
    s3.put_object(Bucket="data", Key="dir/x", Body=b"1")
    assert keys(s3) == ["dir/", "dir/x"]
    assert s3.head_object(Bucket="data", Key="dir/")["ContentLength"] == 0
    s3.delete_object(Bucket="data", Key="dir/x")
    assert keys(s3) == ["dir/"]
    s3.delete_object(Bucket="data", Key="dir/")
    assert keys(s3) == []
    assert not (folder / "dir").exists()


def test_deleting_several_and_copying(s3: Any, folder: Path) -> None:
    s3.put_object(Bucket="data", Key="from/a", Body=b"abc", Metadata={"m": "1"})
    s3.copy_object(Bucket="data", Key="to/a", CopySource={"Bucket": "data", "Key": "from/a"})
    assert s3.get_object(Bucket="data", Key="to/a")["Metadata"] == {"m": "1"}
    s3.copy_object(
        Bucket="data", Key="from/a", CopySource="data/from/a", MetadataDirective="REPLACE", Metadata={"m": "2"}
    )
    assert s3.head_object(Bucket="data", Key="from/a")["Metadata"] == {"m": "2"}
    answer = s3.delete_objects(
        Bucket="data", Delete={"Objects": [{"Key": "from/a"}, {"Key": "to/a"}, {"Key": "../none"}]}
    )
    assert {each["Key"] for each in answer["Deleted"]} == {"from/a", "to/a", "../none"}
    assert list(folder.iterdir()) == []
    assert refusal(s3.copy_object, Bucket="data", Key="x", CopySource="data/none")[0] == "NoSuchKey"


def test_large_objects_in_parts(s3: Any, folder: Path, endpoint: Any) -> None:
    data = os.urandom(12 * MIB + 5)
    config = TransferConfig(multipart_threshold=5 * MIB, multipart_chunksize=5 * MIB)
    s3.upload_fileobj(BytesIO(data), "data", "large", Config=config)
    assert (folder / "large").read_bytes() == data
    assert s3.head_object(Bucket="data", Key="large")["ETag"].endswith('-3"')
    got = BytesIO()
    s3.download_fileobj("data", "large", got, Config=config)
    assert got.getvalue() == data
    s3.copy({"Bucket": "data", "Key": "large"}, "data", "copy", Config=config)
    assert (folder / "copy").read_bytes() == data
    leftover = Path(endpoint.serving.buckets, ".smlocal", "data")
    assert not any((leftover / "uploads").iterdir())
    assert not any((leftover / "partial").iterdir())


def test_an_upload_step_by_step(s3: Any) -> None:
    upload = {"Bucket": "data", "Key": "k", "UploadId": s3.create_multipart_upload(Bucket="data", Key="k")["UploadId"]}
    first = s3.upload_part(**upload, PartNumber=1, Body=b"1" * (5 * MIB))
    small = s3.upload_part(**upload, PartNumber=2, Body=b"2")
    last = s3.upload_part(**upload, PartNumber=4, Body=b"4")
    assert [part["PartNumber"] for part in s3.list_parts(**upload)["Parts"]] == [1, 2, 4]
    assert [each["Key"] for each in s3.list_multipart_uploads(Bucket="data")["Uploads"]] == ["k"]
    assert keys(s3) == []

    def completed(*parts: tuple[int, Any]) -> dict[str, Any]:
        return {**upload, "MultipartUpload": {"Parts": [{"PartNumber": n, "ETag": each["ETag"]} for n, each in parts]}}

    assert refusal(s3.complete_multipart_upload, **completed((4, last), (1, first)))[0] == "InvalidPartOrder"
    assert refusal(s3.complete_multipart_upload, **completed((1, last)))[0] == "InvalidPart"
    assert refusal(s3.complete_multipart_upload, **completed((1, first), (2, small), (4, last)))[0] == "EntityTooSmall"
    answer = s3.complete_multipart_upload(**completed((1, first), (4, last)))
    assert s3.complete_multipart_upload(**completed((1, first), (4, last)))["ETag"] == answer["ETag"], "a retry"
    assert s3.get_object(Bucket="data", Key="k")["Body"].read() == b"1" * (5 * MIB) + b"4"
    assert refusal(s3.list_parts, **upload) == ("NoSuchUpload", 404)
    other = s3.create_multipart_upload(Bucket="data", Key="o")["UploadId"]
    s3.abort_multipart_upload(Bucket="data", Key="o", UploadId=other)
    assert refusal(s3.upload_part, Bucket="data", Key="o", UploadId=other, PartNumber=1, Body=b"")[0] == "NoSuchUpload"
    assert refusal(s3.list_parts, Bucket="data", Key="o", UploadId="../../data")[0] == "NoSuchUpload"


@pytest.mark.parametrize(
    "key", ["../up", "a/../../b", "/lead", "a//b", "a/./b", "n" * 256, "null\0", "dir/../..", "file/below"]
)
def test_keys_that_cannot_be_files_are_refused_and_nothing_leaves_the_folder(s3: Any, folder: Path, key: str) -> None:
    s3.put_object(Bucket="data", Key="file", Body=b"")
    before = sorted(folder.parent.rglob("*"))
    assert refusal(s3.put_object, Bucket="data", Key=key, Body=b"x") == ("NotImplemented", 501)
    if key != "file/below":
        assert refusal(s3.create_multipart_upload, Bucket="data", Key=key)[0] == "NotImplemented"
    assert refusal(s3.get_object, Bucket="data", Key=key) == ("NoSuchKey", 404)
    s3.delete_object(Bucket="data", Key=key)
    after = [path for path in sorted(folder.parent.rglob("*")) if ".smlocal" not in path.parts]
    assert after == [path for path in before if ".smlocal" not in path.parts]


def test_links_are_never_followed(s3: Any, folder: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "file").write_text("of the machine")
    os.symlink(secret, folder / "out")
    os.symlink(secret / "file", folder / "one")
    assert keys(s3) == []
    assert refusal(s3.get_object, Bucket="data", Key="out/file")[0] == "NoSuchKey"
    assert refusal(s3.get_object, Bucket="data", Key="one") == ("AccessDenied", 403)
    assert refusal(s3.put_object, Bucket="data", Key="out/new", Body=b"x")[0] == "NotImplemented"
    s3.delete_object(Bucket="data", Key="out/file")
    s3.put_object(Bucket="data", Key="one", Body=b"mine")
    assert (secret / "file").read_text() == "of the machine"
    assert [path.name for path in secret.iterdir()] == ["file"]
    assert (folder / "one").read_text() == "mine"


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("get_bucket_versioning", {}),
        ("get_object_acl", {"Key": "k"}),
        ("get_object", {"Key": "k", "VersionId": "7"}),
        ("put_object", {"Key": "k", "SSECustomerAlgorithm": "AES256", "SSECustomerKey": "0" * 32}),
        ("put_object", {"Key": "k", "ACL": "public-read"}),
        ("put_object", {"Key": "k", "Tagging": "a=b"}),
    ],
)
def test_what_is_not_emulated_is_named(s3: Any, call: str, arguments: dict[str, Any]) -> None:
    s3.put_object(Bucket="data", Key="k", Body=b"")
    with pytest.raises(ClientError, match="smlocal does not emulate") as refused:
        getattr(s3, call)(Bucket="data", **arguments)
    assert refused.value.response["Error"]["Code"] == "NotImplemented"


def test_a_wrong_checksum_is_refused_and_leaves_nothing(s3: Any, folder: Path) -> None:
    wrong = {"Bucket": "data", "Key": "k", "Body": b"hello"}
    assert refusal(s3.put_object, **wrong, ChecksumCRC32="AAAAAA==")[0] == "BadDigest"
    assert refusal(s3.put_object, **wrong, ContentMD5="1B2M2Y8AsgTpgAmY7PhCfg==")[0] == "BadDigest"
    assert refusal(s3.put_object, **wrong, ContentMD5="short")[0] == "InvalidDigest"
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("algorithm", ["CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256"])
def test_every_checksum(s3: Any, algorithm: str) -> None:
    put = s3.put_object(Bucket="data", Key="k", Body=b"hello", ChecksumAlgorithm=algorithm)
    got = s3.get_object(Bucket="data", Key="k", ChecksumMode="ENABLED")
    assert got[f"Checksum{algorithm}"] == put[f"Checksum{algorithm}"]
    assert got["Body"].read() == b"hello"


def test_presigned_addresses(s3: Any, folder: Path) -> None:
    import urllib3

    url = s3.generate_presigned_url("put_object", Params={"Bucket": "data", "Key": "p q"})
    assert urllib3.request("PUT", url, body=b"data").status == 200
    url = s3.generate_presigned_url("get_object", Params={"Bucket": "data", "Key": "p q"})
    assert urllib3.request("GET", url).data == b"data"
    assert (folder / "p q").read_bytes() == b"data"


@pytest.fixture(autouse=True)
def nothing_was_logged(endpoint: Any) -> Iterator[None]:
    yield
    assert endpoint.said == []
