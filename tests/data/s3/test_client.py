"""Listing, looking and reading, the same on two real servers."""

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.data.s3.troubled_proxy import TroubledProxy, in_chunks
from tests.kit.s3_servers import S3Server, opened

from smlocal.data.sources.s3.client import S3Client
from smlocal.data.sources.s3.interface import S3Error, S3Object

ODD = ["a b+c&d=e/ünï cödé.txt", "tab\tand 'quotes\" <xml>%20", "plain/../dots", "emoji-🦜", "~tilde*star(paren)"]


def read(store: S3Client, wanted: S3Object, start: int, length: int) -> bytes:
    buffer = bytearray(length)
    return bytes(buffer[: store.read_into(wanted, start, memoryview(buffer))])


def test_a_listing_has_every_object_in_byte_order(s3: S3Server, store: S3Client, bucket: str) -> None:
    keys = ["p/B", "p/a", "p/ä", "p/a/b", "p/a0", "other"] if s3.name == "moto" else ["p/B", "p/a", "p/ä", "p/c/b", "o"]
    etags = {key: s3.put(bucket, key, key.encode()) for key in keys}
    found = list(store.list_objects(bucket, "p/"))
    wanted = sorted((key for key in keys if key.startswith("p/")), key=str.encode)
    assert found == [S3Object(bucket=bucket, key=k, size=len(k.encode()), etag=etags[k]) for k in wanted]


@pytest.mark.slow(5)
def test_a_listing_goes_over_many_pages(s3: S3Server, store: S3Client, bucket: str) -> None:
    # moto's pages are short, because filling it is slow.
    keys = [f"{number:04}" for number in range(203 if s3.name == "moto" else 2003)]
    for key in keys:
        s3.put(bucket, key)
    assert [each.key for each in store.list_objects(bucket, "")] == keys


def test_a_prefix_that_matches_nothing_lists_nothing(store: S3Client, bucket: str) -> None:
    assert list(store.list_objects(bucket, "none")) == []


@pytest.mark.parametrize("key", ODD)
def test_odd_keys(s3: S3Server, store: S3Client, bucket: str, key: str) -> None:
    if ".." in key:
        s3.skip_on("rclone", "takes .. for a folder above")
    s3.put(bucket, key, b"here")
    listed = list(store.list_objects(bucket, ""))
    assert [each.key for each in listed] == [key]
    assert read(store, listed[0], 0, 10) == b"here"
    assert store.head(bucket, key).size == 4


def test_double_slashes_and_folder_markers(s3: S3Server, store: S3Client, bucket: str) -> None:
    s3.skip_on("rclone", "its keys are paths of a file system")
    for key in ("f/", "f//x", "f/y", "/z"):
        s3.put(bucket, key, b"")
    assert [each.key for each in store.list_objects(bucket, "")] == ["/z", "f/", "f//x", "f/y"]
    assert [each.key for each in store.list_objects(bucket, "f//")] == ["f//x"]
    assert read(store, S3Object(bucket=bucket, key="f//x"), 0, 5) == b""


@pytest.mark.parametrize("known", [True, False])
def test_ranges(s3: S3Server, store: S3Client, bucket: str, bytes_of: Callable[[int], bytes], *, known: bool) -> None:
    data = bytes_of(100_001)
    s3.put(bucket, "k", data)
    wanted = store.head(bucket, "k") if known else S3Object(bucket=bucket, key="k")
    for start, length in ((0, 1), (0, 100_001), (0, 200_000), (5, 70_000), (99_999, 10), (100_001, 4), (200_000, 4)):
        assert read(store, wanted, start, length) == data[start : start + length], (start, length)


def test_the_first_bytes_tell_the_size(s3: S3Server, store: S3Client, bucket: str) -> None:
    etag = s3.put(bucket, "k", b"0123456789")
    whole = S3Object(bucket=bucket, key="k", size=10, etag=etag)
    assert store.read_first(S3Object(bucket=bucket, key="k"), 4) == (whole, b"0123")
    assert store.read_first(S3Object(bucket=bucket, key="k"), 10) == (whole, b"0123456789")
    assert store.read_first(S3Object(bucket=bucket, key="k"), 40) == (whole, b"0123456789")


@pytest.mark.parametrize("known", [True, False])
def test_an_object_without_bytes(s3: S3Server, store: S3Client, bucket: str, *, known: bool) -> None:
    etag = s3.put(bucket, "k")
    empty = S3Object(bucket=bucket, key="k", size=0, etag=etag)
    wanted = empty if known else S3Object(bucket=bucket, key="k")
    assert store.read_first(wanted, 10) == (empty, b"")
    assert read(store, wanted, 0, 10) == b""


def test_what_is_not_there(store: S3Client, bucket: str) -> None:
    gone = S3Object(bucket=bucket, key="gone")
    with pytest.raises(S3Error) as error:
        read(store, gone, 0, 1)
    assert (error.value.code, error.value.status, error.value.uri) == ("NoSuchKey", 404, gone.uri)
    assert error.value.operation == "GetObject"
    with pytest.raises(S3Error) as error:
        store.head(bucket, "gone")
    assert (error.value.code, error.value.message) == ("NoSuchKey", "The specified key does not exist.")
    with pytest.raises(S3Error) as error:
        next(store.list_objects("no-such-bucket-anywhere", ""))
    assert (error.value.code, error.value.status) == ("NoSuchBucket", 404)
    assert error.value.operation == "ListObjectsV2"


def test_an_object_that_has_changed_since_it_was_listed(s3: S3Server, store: S3Client, bucket: str) -> None:
    s3.put(bucket, "k", b"first")
    listed = next(store.list_objects(bucket, "k"))
    s3.put(bucket, "k", b"other")
    with pytest.raises(S3Error) as error:
        read(store, listed, 0, 5)
    assert (error.value.code, error.value.status) == ("PreconditionFailed", 412)


def test_a_wrong_secret(s3_servers: Callable[[str], Any]) -> None:
    # Only rclone's server looks at it.
    environment = {**s3_servers("rclone").environment, "AWS_SECRET_ACCESS_KEY": "wrong"}
    store = opened(environment, retry_seconds=5)
    with pytest.raises(S3Error) as error:
        next(store.list_objects("bucket", ""))
    assert (error.value.code, error.value.status) == ("SignatureDoesNotMatch", 403)


def test_temporary_credentials_are_signed_too(s3_servers: Callable[[str], Any]) -> None:
    server = s3_servers("rclone")
    bucket = server.make_bucket()
    server.put(bucket, "k", b"data")
    store = opened({**server.environment, "AWS_SESSION_TOKEN": "to/ken=="}, retry_seconds=5)
    assert store.head(bucket, "k").size == 4
    store.close()


def test_a_listing_that_comes_in_chunks(s3: S3Server, proxy: TroubledProxy, troubled: S3Client, bucket: str) -> None:
    s3.put(bucket, "k", b"x" * 100)
    proxy.next(in_chunks, in_chunks)
    listed = next(troubled.list_objects(bucket, ""))
    assert read(troubled, listed, 0, 200) == b"x" * 100


def test_many_threads_at_once(s3: S3Server, store: S3Client, bucket: str, bytes_of: Callable[[int], bytes]) -> None:
    data = {f"{number}": bytes_of(1000 * number) for number in range(40)}
    for key, each in data.items():
        s3.put(bucket, key, each)

    def digest(key: str) -> str:
        return hashlib.sha256(read(store, store.head(bucket, key), 0, 50_000)).hexdigest()

    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(digest, data))
    assert found == [hashlib.sha256(each).hexdigest() for each in data.values()]
