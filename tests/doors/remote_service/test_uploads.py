"""Uploads of submit: only missing files, only what was read, and again what broke; on two S3 servers."""

import base64
import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.data.s3.troubled_proxy import TroubledProxy, passed, refused
from tests.kit.noise import noise
from tests.kit.s3_servers import S3Server, environment, opened

from smlocal.data.sources.local_listing import list_source
from smlocal.data.sources.s3.client import S3Client
from smlocal.data.sources.s3.writer import PART
from smlocal.errors import CredentialsMissingError, S3UnreachableError
from smlocal.errors.of_commands import UploadFailedError, UploadSourceChangedError
from smlocal.service.uploads import Upload, look, plan_upload, send

COUNT = 20
PLAIN = {"AWS_REQUEST_CHECKSUM_CALCULATION": "when_required"}
"""rclone does not know the trailers that carry a checksum nobody asked for."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    data = tmp_path / "data"
    (data / "below").mkdir(parents=True)
    for number in range(COUNT):
        (data / "below" / f"{number:02}").write_bytes(noise(1000 + number))
    return data


@pytest.fixture
def bucket(s3: S3Server) -> str:
    return s3.make_bucket("submit")


@pytest.fixture
def proxy(s3: S3Server) -> Iterator[TroubledProxy]:
    assert s3.process is not None
    with TroubledProxy(int(s3.environment["AWS_ENDPOINT_URL_S3"].rpartition(":")[2])) as running:
        yield running


@pytest.fixture
def store(proxy: TroubledProxy) -> S3Client:
    return opened(environment(proxy.url, PLAIN), retry_seconds=1)


@pytest.fixture
def plan(folder: Path, bucket: str) -> Callable[[], Upload]:
    def make() -> Upload:
        listing = list_source(str(folder), channel="t", directory="/", mapping={}, region="", role="")
        return plan_upload(listing, subject='channel "t"', below=f"s3://{bucket}/in/t/")

    return make


def held(s3: S3Server, bucket: str) -> dict[str, bytes]:
    client = s3.client()
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket)
    keys = [each["Key"] for page in pages for each in page.get("Contents", ())]
    return {key: client.get_object(Bucket=bucket, Key=key)["Body"].read() for key in keys}


def expected(upload: Upload) -> dict[str, bytes]:
    return {f"{upload.key_base}{file.path}": Path(upload.local(file)).read_bytes() for file in upload.files}


def puts(proxy: TroubledProxy) -> int:
    return sum(head.startswith("PUT ") for head in proxy.requests)


@pytest.mark.slow(2)
def test_only_what_is_not_there_is_uploaded_and_nothing_is_replaced(
    s3: S3Server, bucket: str, proxy: TroubledProxy, store: S3Client, plan: Callable[[], Upload], folder: Path
) -> None:
    (folder / "large").write_bytes(noise(PART + 1000))
    (folder / "empty").touch()
    names = ("ein ä+%2F?#&<b>.txt", " leading", "~")
    for name in names:
        (folder / name).write_text(name)
    (folder / "link").symlink_to(folder / "below" / "00")
    first = plan()
    there = look(store, [first])
    assert (len(there.pending), there.there) == (COUNT + 3 + len(names), 0)
    send(store, there.pending)
    assert held(s3, bucket) == expected(first)
    sums = [line for head in proxy.requests for line in head.split("\r\n") if line.startswith("x-amz-checksum-sha256:")]
    small = {base64.b64encode(file.sha256).decode() for file in first.files if file.size <= PART}
    assert {line.partition(":")[2].strip() for line in sums} == small
    asked = len(proxy.requests)
    assert look(store, [plan()]).pending == ()
    assert {head.partition(" ")[0] for head in proxy.requests[asked:]} == {"GET"}

    (folder / "empty").unlink()
    (folder / "large").unlink()
    second = plan()
    send(store, look(store, [second]).pending)
    assert held(s3, bucket) == {**held(s3, bucket), **expected(second)}
    assert second.uri != first.uri


@pytest.mark.slow(2)
def test_an_upload_that_breaks_half_way_goes_on_where_it_broke(
    s3: S3Server,
    bucket: str,
    proxy: TroubledProxy,
    store: S3Client,
    plan: Callable[[], Upload],
    request: pytest.FixtureRequest,
) -> None:
    request.addfinalizer(s3.restart)
    upload = plan()
    pending = look(store, [upload]).pending

    killed = threading.Event()

    def ends(client: socket.socket, answer: bytes) -> bool:
        s3.kill()
        killed.set()
        return passed(client, answer)

    def waits(client: socket.socket, answer: bytes) -> bool:
        """The other threads of the upload must not be done before the server ends."""
        killed.wait(60)
        return passed(client, answer)

    proxy.next(*[passed] * 3, ends, *[waits] * COUNT, method="PUT")
    with pytest.raises(S3UnreachableError) as caught:
        send(store, pending)
    assert "not uploaded again" in caught.value.remedy[-1]
    s3.restart()
    left = look(store, [plan()])
    assert 1 <= left.there < COUNT  # those whose answers were on their way may be broken
    assert left.there + len(left.pending) == COUNT
    before = puts(proxy)
    send(store, left.pending)
    assert puts(proxy) - before == len(left.pending)
    assert held(s3, bucket) == expected(upload)


def test_a_file_that_changes_before_or_after_it_was_sent_stops_the_upload(
    s3: S3Server, bucket: str, proxy: TroubledProxy, store: S3Client, plan: Callable[[], Upload], folder: Path
) -> None:
    upload = plan()
    path = folder / "below" / "03"
    path.write_bytes(noise(1003)[::-1])
    os.utime(path, ns=(1, 1))
    with pytest.raises(UploadSourceChangedError, match="below/03 has changed"):
        send(store, look(store, [upload]).pending)
    assert f"{upload.key_base}below/03" not in held(s3, bucket)

    again = plan()
    last = [each for each in look(store, [again]).pending if each.file.path == "below/03"]

    def changes(client: socket.socket, answer: bytes) -> bool:
        os.utime(path, ns=(2, 2))
        return passed(client, answer)

    proxy.next(changes, method="PUT")
    with pytest.raises(UploadSourceChangedError):
        send(store, last)
    assert f"{again.key_base}below/03" not in held(s3, bucket)


def test_a_large_file_that_changes_does_not_become_an_object(
    s3: S3Server, bucket: str, proxy: TroubledProxy, store: S3Client, tmp_path: Path
) -> None:
    path = tmp_path / "large"
    path.write_bytes(noise(PART + 1000))
    listing = list_source(str(path), channel="t", directory="/", mapping={}, region="", role="")
    upload = plan_upload(listing, subject="it", below=f"s3://{bucket}/t/")

    def changes(client: socket.socket, answer: bytes) -> bool:
        os.utime(path, ns=(2, 2))
        return passed(client, answer)

    proxy.next(changes, method="PUT")
    with pytest.raises(UploadSourceChangedError):
        send(store, look(store, [upload]).pending)
    assert held(s3, bucket) == {}


def test_a_bucket_that_is_missing_and_rights_that_are_missing(
    proxy: TroubledProxy, store: S3Client, plan: Callable[[], Upload], folder: Path
) -> None:
    listing = list_source(str(folder), channel="t", directory="/", mapping={}, region="", role="")
    nowhere = plan_upload(listing, subject="it", below="s3://no-such-bucket-at-all/t/")
    with pytest.raises(UploadFailedError) as caught:
        look(store, [nowhere])
    assert "aws s3 mb s3://no-such-bucket-at-all" in caught.value.remedy[0]

    upload = plan()
    proxy.next(refused(403, "AccessDenied"), method="GET")
    unseen = look(store, [upload])
    assert "s3:ListBucket" in unseen.note
    assert len(unseen.pending) == COUNT

    proxy.next(refused(403, "InvalidAccessKeyId"), method="GET")
    with pytest.raises(CredentialsMissingError, match="rejects these AWS credentials"):
        look(store, [upload])

    proxy.next(*[refused(403, "AccessDenied")] * COUNT, method="PUT")
    with pytest.raises(UploadFailedError) as caught:
        send(store, unseen.pending)
    assert f"s3:PutObject on s3://{upload.bucket}/{upload.key_base}*" in caught.value.remedy[0]
