"""Failures on the way are tried again, continue where they broke off, or come out in S3's words."""

import socket
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.data.s3.troubled_proxy import (
    TroubledProxy,
    cut_after,
    dropped,
    refused,
    slow_down,
    with_etag,
)
from tests.kit.s3_servers import REGION, S3Server, environment, opened, reserve_port

from smlocal.data.sources.s3.client import S3Client, open_store
from smlocal.data.sources.s3.error_responses import FetchCancelledError, download_failure, until_cancelled
from smlocal.data.sources.s3.interface import S3Error, S3Object
from smlocal.data.sources.s3.object_stream import ObjectStream
from smlocal.terms.rights import EVERYTHING


def read(store: S3Client, wanted: S3Object, start: int, length: int) -> bytes:
    buffer = bytearray(length)
    return bytes(buffer[: store.read_into(wanted, start, memoryview(buffer))])


@pytest.fixture
def data(bytes_of: Callable[[int], bytes]) -> bytes:
    return bytes_of(300_000)


@pytest.fixture
def stored(s3: S3Server, bucket: str, data: bytes) -> S3Object:
    return S3Object(bucket=bucket, key="k", size=len(data), etag=s3.put(bucket, "k", data))


@pytest.mark.parametrize(
    "trouble",
    [slow_down, dropped, refused(500, "InternalError"), refused(502, "BadGateway"), refused(400, "RequestTimeout")],
)
def test_tried_again(
    proxy: TroubledProxy, troubled: S3Client, stored: S3Object, data: bytes, trouble: Callable[..., bool]
) -> None:
    proxy.next(trouble, trouble)
    assert read(troubled, stored, 7, 1000) == data[7:1007]
    assert len(proxy.requests) == 3
    proxy.next(trouble, trouble)
    assert list(troubled.list_objects(stored.bucket, "")) == [stored]


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize("known", [True, False])
def test_goes_on_where_it_broke(
    proxy: TroubledProxy, troubled: S3Client, stored: S3Object, data: bytes, *, known: bool
) -> None:
    wanted = stored if known else S3Object(bucket=stored.bucket, key=stored.key)
    proxy.next(cut_after(100_000), cut_after(0), dropped, slow_down, cut_after(50_000))
    assert read(troubled, wanted, 0, 300_000) == data
    ranges = [line for head in proxy.requests for line in head.splitlines() if line.startswith("range")]
    first = [] if known else ["range: bytes=0-299999"]
    assert ranges == [*first, *["range: bytes=100000-299999"] * 4, "range: bytes=150000-299999"]
    assert all(f"if-match: {stored.etag}" in head for head in proxy.requests[1:])


def test_a_cut_listing_is_asked_for_again(proxy: TroubledProxy, troubled: S3Client, stored: S3Object) -> None:
    proxy.next(cut_after(50))
    assert list(troubled.list_objects(stored.bucket, "")) == [stored]


@pytest.mark.parametrize(("status", "code"), [(403, "AccessDenied"), (404, "NoSuchKey"), (400, "InvalidRequest")])
def test_not_tried_again(proxy: TroubledProxy, troubled: S3Client, stored: S3Object, status: int, code: str) -> None:
    proxy.next(refused(status, code))
    with pytest.raises(S3Error) as error:
        read(troubled, stored, 0, 10)
    assert (error.value.status, error.value.code, error.value.message) == (status, code, f"said {code}")
    assert len(proxy.requests) == 1
    assert download_failure(error.value) == f"Unable to download object {stored.uri} ({code}: said {code})"


def test_replaced_between_two_answers(proxy: TroubledProxy, troubled: S3Client, stored: S3Object) -> None:
    proxy.next(cut_after(100_000), with_etag('"other"'))
    with pytest.raises(S3Error) as error:
        read(troubled, S3Object(bucket=stored.bucket, key=stored.key), 0, 300_000)
    assert (error.value.code, error.value.status) == ("PreconditionFailed", 412)


def test_throttled_for_longer_than_anybody_waits(proxy: TroubledProxy, stored: S3Object) -> None:
    store = opened(environment(proxy.url), retry_seconds=1)
    proxy.next(*[slow_down] * 100)
    with pytest.raises(S3Error) as error:
        read(store, stored, 0, 10)
    assert (error.value.code, error.value.status) == ("SlowDown", 503)


def test_nobody_there() -> None:
    with reserve_port() as nobody:
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        store = opened(environment(url), retry_seconds=0.5)
        with pytest.raises(S3Error, match="Connection refused") as error:
            next(store.list_objects("bucket", "prefix"))
    assert error.value.status == 0
    assert download_failure(error.value) == (
        "Failed to download data. ListObjectsV2 failed for s3://bucket/prefix : Unable to execute request to S3"
    )


def test_expired_credentials_are_looked_up_again(
    proxy: TroubledProxy, stored: S3Object, data: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = environment(proxy.url)
    file = tmp_path / "credentials"
    pair = f"aws_secret_access_key = {given.pop('AWS_SECRET_ACCESS_KEY')}\naws_session_token ="
    key = given.pop("AWS_ACCESS_KEY_ID")
    file.write_text(f"[default]\naws_access_key_id = {key}\n{pair} old\n")
    for name, value in {**given, "AWS_SHARED_CREDENTIALS_FILE": str(file)}.items():
        monkeypatch.setenv(name, value)
    store = open_store(REGION, rights=EVERYTHING, retry_seconds=5)
    assert read(store, stored, 0, 5) == data[:5]
    # Nothing has changed: S3's word stands.
    proxy.next(refused(400, "ExpiredToken"))
    with pytest.raises(S3Error, match="ExpiredToken"):
        read(store, stored, 0, 5)
    file.write_text(f"[default]\naws_access_key_id = {key}\n{pair} new\n")
    proxy.next(refused(400, "ExpiredToken"))
    assert read(store, stored, 0, 5) == data[:5]
    tokens = [line.split()[1] for head in proxy.requests for line in head.splitlines() if "security-token:" in line]
    assert tokens == ["old", "old", "old", "new"]


@pytest.mark.slow(2)
def test_a_server_that_is_killed_and_comes_back(
    s3: S3Server, store: S3Client, bucket: str, bytes_of: Callable[[int], bytes]
) -> None:
    data = bytes_of(24 << 20)
    s3.put(bucket, "k", data)
    stream = ObjectStream(store, store.list_objects(bucket, ""), budget=4 << 20, threads=4)
    restarting = threading.Timer(1, s3.restart)
    with closing(stream):
        assert stream.open_next() is not None
        read_so_far = bytearray(stream.read())
        s3.kill()
        restarting.start()
        while piece := stream.read():
            read_so_far += piece
    restarting.join()
    assert bytes(read_so_far) == data


@pytest.mark.slow(2, others=True)
def test_a_stalled_reader_and_a_connection_that_ended_meanwhile(
    proxy: TroubledProxy, stored: S3Object, data: bytes
) -> None:
    # A reader may stop for longer than the store's patience; it begins anew with the next read.
    store = opened(environment(proxy.url), retry_seconds=3)
    reader = store.open_range(stored)
    proxy.next(cut_after(1000), dropped)
    piece = memoryview(bytearray(1000))
    assert reader.fill(piece) == 1000
    time.sleep(4)
    rest = memoryview(bytearray(300_000))
    assert reader.fill(rest) == 299_000
    assert bytes(piece) + bytes(rest[:299_000]) == data
    reader.close()


def test_a_silent_server_is_left_within_a_second_by_who_lost_interest() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        cancelled = threading.Event()
        store = opened(environment(url))
        threading.Timer(0.2, cancelled.set).start()
        with pytest.raises(FetchCancelledError):
            until_cancelled(lambda: store.head("bucket", "key"), cancelled.is_set)
