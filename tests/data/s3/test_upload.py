"""Uploads arrive whole or not at all, whatever happens on the way; on two servers."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.data.s3.troubled_proxy import TroubledProxy, dropped, refused, slow_down
from tests.kit import until
from tests.kit.noise import noise
from tests.kit.s3_servers import S3Server, environment, opened

from smlocal.data.sources.s3.client import S3Client
from smlocal.data.sources.s3.error_responses import FetchCancelledError, upload_failure
from smlocal.data.sources.s3.interface import S3Error
from smlocal.data.sources.s3.upload import Item, Uploaded, upload_all
from smlocal.data.sources.s3.writer import PART, GrowingFile, UploadTarget

THREE_PARTS = 2 * PART + 1000


class Told:
    """Receives the progress of an upload."""

    def __init__(self) -> None:
        self.bytes = 0
        self.done: list[Uploaded] = []
        self.open: set[str] = set()

    def moved(self, count: int) -> None:
        self.bytes += count

    def begun(self, target: UploadTarget, upload: str) -> None:
        assert target.key
        self.open.add(upload)

    def ended(self, upload: str) -> None:
        self.open.remove(upload)


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def file_of(tmp_path: Path) -> Callable[[int], Path]:
    def make(size: int) -> Path:
        path = tmp_path / f"{size}-bytes"
        path.write_bytes(noise(size))
        return path

    return make


def item(path: Path, bucket: str, key: str = "k") -> Item:
    return Item(source=GrowingFile.complete(os.open(path, os.O_RDONLY)), target=UploadTarget(bucket=bucket, key=key))


def upload(store: S3Client, told: Told, *items: Item, **options: Any) -> None:
    upload_all(store, items, moved=told.moved, done=told.done.append, journal=told, **options)


def held(s3: S3Server, bucket: str) -> dict[str, bytes]:
    """Everything that is visible in a bucket."""
    listed = s3.client().list_objects_v2(Bucket=bucket).get("Contents", ())
    return {each["Key"]: s3.client().get_object(Bucket=bucket, Key=each["Key"])["Body"].read() for each in listed}


def half_sent(s3: S3Server, bucket: str) -> list[str]:
    client = s3.client()
    with suppress(client.exceptions.NoSuchUpload):  # rclone's answer for a bucket without any
        return [each["Key"] for each in client.list_multipart_uploads(Bucket=bucket).get("Uploads", ())]
    return []


@pytest.mark.parametrize("size", [0, 1, 1 << 20, (1 << 20) + 1, PART, PART + 1, 2 * PART, THREE_PARTS])
def test_what_arrives_is_what_was_sent(
    s3: S3Server, store: S3Client, bucket: str, told: Told, file_of: Callable[[int], Path], size: int
) -> None:
    path = file_of(size)
    upload(store, told, item(path, bucket, "a b/ü+&=?"))
    assert held(s3, bucket) == {"a b/ü+&=?": path.read_bytes()}
    assert told.done == [Uploaded(uri=f"s3://{bucket}/a b/ü+&=?", bytes=size)]
    assert told.bytes == size
    assert not told.open
    assert half_sent(s3, bucket) == []


def test_many_objects_small_and_large(
    s3: S3Server, store: S3Client, bucket: str, told: Told, file_of: Callable[[int], Path]
) -> None:
    sizes = [10, PART + 5, 0, 3000, 2 * PART, 7]
    upload(store, told, *[item(file_of(size), bucket, f"k/{size}") for size in sizes])
    assert {key: len(data) for key, data in held(s3, bucket).items()} == {f"k/{size}": size for size in sizes}
    assert {each.bytes for each in told.done} == set(sizes)


def test_nothing_is_visible_before_the_file_is_whole(
    s3: S3Server, store: S3Client, bucket: str, told: Told, file_of: Callable[[int], Path], tmp_path: Path
) -> None:
    data = file_of(THREE_PARTS).read_bytes()
    path = tmp_path / "grows"
    path.touch()
    source = GrowingFile(os.open(path, os.O_RDONLY), most=len(data))
    uploading = threading.Thread(
        target=upload, args=(store, told, Item(source=source, target=UploadTarget(bucket=bucket, key="k")))
    )
    uploading.start()
    with path.open("ab") as file:
        for start in range(0, len(data), 1 << 20):
            file.write(data[start : start + (1 << 20)])
            file.flush()
            source.grow(min(start + (1 << 20), len(data)))
    until(lambda: told.bytes >= 2 * PART)
    assert held(s3, bucket) == {}
    source.end()
    uploading.join()
    assert held(s3, bucket) == {"k": data}


def test_a_file_that_will_never_be_whole_is_taken_back(
    s3: S3Server, store: S3Client, bucket: str, told: Told, file_of: Callable[[int], Path]
) -> None:
    path = file_of(THREE_PARTS)
    source = GrowingFile(os.open(path, os.O_RDONLY), most=THREE_PARTS)
    source.grow(THREE_PARTS)
    failures: list[BaseException] = []

    def run() -> None:
        try:
            upload(store, told, Item(source=source, target=UploadTarget(bucket=bucket, key="k")))
        except FetchCancelledError as error:
            failures.append(error)

    uploading = threading.Thread(target=run)
    uploading.start()
    until(lambda: told.bytes >= 2 * PART)
    source.give_up()
    uploading.join()
    assert len(failures) == 1
    assert (held(s3, bucket), half_sent(s3, bucket), told.open) == ({}, [], set())


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize("size", [1000, THREE_PARTS])
@pytest.mark.parametrize("trouble", [slow_down, dropped, refused(500, "InternalError"), refused(400, "RequestTimeout")])
def test_tried_again(
    s3: S3Server,
    proxy: TroubledProxy,
    troubled: S3Client,
    bucket: str,
    told: Told,
    file_of: Callable[[int], Path],
    size: int,
    trouble: Callable[..., bool],
) -> None:
    path = file_of(size)
    proxy.next(trouble, trouble, method="PUT")
    proxy.next(*([slow_down] if size > PART else []), method="POST")
    upload(troubled, told, item(path, bucket))
    assert held(s3, bucket) == {"k": path.read_bytes()}
    assert told.bytes == size


def test_connections_that_break_in_the_midst_of_a_part(
    s3: S3Server, proxy: TroubledProxy, troubled: S3Client, bucket: str, told: Told, file_of: Callable[[int], Path]
) -> None:
    path = file_of(THREE_PARTS)
    proxy.bodies_cut.extend([100, PART // 2, PART - 1, 0])
    upload(troubled, told, item(path, bucket))
    assert held(s3, bucket) == {"k": path.read_bytes()}
    assert told.bytes == THREE_PARTS


@pytest.mark.parametrize(
    ("size", "method", "operation"),
    [
        (1000, "PUT", "PutObject"),
        (THREE_PARTS, "PUT", "UploadPart"),
        (THREE_PARTS, "POST", "CreateMultipartUpload"),
    ],
)
def test_a_refusal_is_told_in_the_words_of_the_service_and_leaves_nothing(
    s3: S3Server,
    proxy: TroubledProxy,
    troubled: S3Client,
    bucket: str,
    told: Told,
    file_of: Callable[[int], Path],
    size: int,
    method: str,
    operation: str,
) -> None:
    proxy.next(*[refused(403, "AccessDenied")] * 4, method=method)
    with pytest.raises(S3Error) as error:
        upload(troubled, told, item(file_of(size), bucket))
    assert error.value.operation == operation
    assert upload_failure(error.value) == "Artifact upload failed:Error 7: AccessDenied (403): said AccessDenied"
    assert told.open == set()
    if operation != "PutObject":  # that one the server behind the proxy has carried out
        assert held(s3, bucket) == {}
    if operation == "UploadPart":
        assert half_sent(s3, bucket) == []


@pytest.mark.parametrize("size", [10, THREE_PARTS])
def test_a_bucket_that_is_missing(store: S3Client, told: Told, file_of: Callable[[int], Path], size: int) -> None:
    with pytest.raises(S3Error) as error:
        upload(store, told, item(file_of(size), "no-such-bucket-anywhere"))
    assert upload_failure(error.value).startswith("Artifact upload failed:Error 7: NoSuchBucket (404): ")


def test_a_refusal_before_the_body_spares_the_body(told: Told, file_of: Callable[[int], Path]) -> None:
    """As S3 does, which then closes: a client that only sends finds a broken connection, and not the reason."""
    document = b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"
    answer = b"HTTP/1.1 403 Forbidden\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(document) + document
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            client, _ = server.accept()
            with client:
                client.recv(1 << 16)
                client.sendall(answer)
                client.shutdown(socket.SHUT_RDWR)

        serving = threading.Thread(target=serve)
        serving.start()
        store = opened(environment(f"http://127.0.0.1:{server.getsockname()[1]}"), retry_seconds=5)
        with pytest.raises(S3Error) as error:
            upload(store, told, item(file_of(PART), "bucket"))
        serving.join()
    assert upload_failure(error.value) == "Artifact upload failed:Error 7: AccessDenied (403): Access Denied"
    assert told.bytes == 0


def test_bytes_that_arrive_as_others_are_sent_again(
    proxy: TroubledProxy, troubled: S3Client, bucket: str, told: Told, file_of: Callable[[int], Path]
) -> None:
    other = refused(400, "BadDigest")
    proxy.next(other, other, method="PUT")
    upload(troubled, told, item(file_of(1000), bucket))
    assert len(proxy.requests) == 3
    assert told.bytes == 1000
    proxy.next(other, other, other, method="PUT")
    with pytest.raises(S3Error, match="BadDigest"):
        upload(troubled, told, item(file_of(1000), bucket))


def test_an_answer_that_was_lost_after_all_was_done(
    s3: S3Server, proxy: TroubledProxy, troubled: S3Client, bucket: str, told: Told, file_of: Callable[[int], Path]
) -> None:
    """The second try finds nothing to complete."""
    path = file_of(THREE_PARTS)
    passed = lambda client, answer: bool(client.sendall(answer))  # noqa: E731  shorter than a function
    proxy.next(passed, dropped, method="POST")
    upload(troubled, told, item(path, bucket))
    assert held(s3, bucket) == {"k": path.read_bytes()}
    assert told.bytes == THREE_PARTS
    assert half_sent(s3, bucket) == []


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize("moment", [PART // 2, PART + PART // 2])
def test_a_server_that_is_killed_and_forgets_what_was_begun(
    s3: S3Server,
    store: S3Client,
    bucket: str,
    told: Told,
    file_of: Callable[[int], Path],
    moment: int,
) -> None:
    s3.skip_on("moto", "it answers 500 to whoever asks for an upload that it has forgotten")
    path = file_of(4 * PART)
    killed = threading.Event()

    def moved(count: int) -> None:
        told.moved(count)
        if told.bytes >= moment and s3.process is not None and not killed.is_set():
            s3.kill()
            killed.set()

    uploading = threading.Thread(
        target=upload_all,
        args=(store, [item(path, bucket)]),
        kwargs={"moved": moved, "journal": told, "threads": 2},
    )
    uploading.start()
    until(killed.is_set)
    s3.restart()
    uploading.join()
    assert held(s3, bucket) == {"k": path.read_bytes()}
    assert told.bytes == 4 * PART
    assert told.open == set()


@pytest.mark.parametrize("moment", [0, 1, PART, 2 * PART])
def test_whoever_loses_interest_leaves_nothing(
    s3: S3Server, store: S3Client, bucket: str, told: Told, file_of: Callable[[int], Path], moment: int
) -> None:
    with pytest.raises(FetchCancelledError):
        upload(store, told, item(file_of(4 * PART), bucket), cancelled=lambda: told.bytes >= moment)
    assert (held(s3, bucket), half_sent(s3, bucket), told.open) == ({}, [], set())


def test_a_file_that_becomes_shorter_while_it_is_sent(
    s3: S3Server, store: S3Client, bucket: str, told: Told, file_of: Callable[[int], Path]
) -> None:
    path = file_of(3 * PART)
    sending = item(path, bucket)
    os.truncate(path, PART + 10)
    with pytest.raises(S3Error, match="has become shorter"):
        upload(store, told, sending)
    assert (held(s3, bucket), half_sent(s3, bucket)) == ({}, [])


def test_no_file_stays_open(store: S3Client, bucket: str, told: Told, file_of: Callable[[int], Path]) -> None:
    paths = [file_of(size) for size in (5, PART + 5)]
    upload(store, told, *[item(path, bucket, path.name) for path in paths])
    with pytest.raises(S3Error):
        upload(store, told, *[item(path, "no-such-bucket-anywhere", path.name) for path in paths])
    # `realpath` also has an answer for a descriptor that another thread, such as one of the server, closes meanwhile.
    names = {os.path.realpath(f"/proc/self/fd/{each}") for each in os.listdir("/proc/self/fd")}
    assert not names & {os.path.realpath(path) for path in paths}


def test_keys_of_the_customers_own(
    s3: S3Server, proxy: TroubledProxy, troubled: S3Client, bucket: str, told: Told, file_of: Callable[[int], Path]
) -> None:
    for size in (5, PART + 5):
        source = GrowingFile.complete(os.open(file_of(size), os.O_RDONLY))
        upload(
            troubled, told, Item(source=source, target=UploadTarget(bucket=bucket, key=f"{size}", kms_key="alias/mine"))
        )
    heads = [head for head in proxy.requests if "x-amz-server-side-encryption-aws-kms-key-id: alias/mine" in head]
    assert [head.partition(" ")[0] for head in heads] == ["PUT", "POST"]
    assert {len(data) for data in held(s3, bucket).values()} == {5, PART + 5}


@pytest.mark.parametrize("named", [True, False])
def test_sums_go_along_unless_the_configuration_says_no(
    proxy: TroubledProxy, bucket: str, told: Told, file_of: Callable[[int], Path], *, named: bool
) -> None:
    extra = {} if named else {"AWS_REQUEST_CHECKSUM_CALCULATION": "when_required"}
    store = opened(environment(proxy.url, extra), retry_seconds=20)
    upload(store, told, item(file_of(1000), bucket), item(file_of(PART + 1), bucket, "large"))
    completed, begun = (head for head in reversed(proxy.requests) if head.startswith("POST"))
    assert ("x-amz-checksum-algorithm: CRC32" in begun) is named
    assert "?uploadId=" in completed  # there the sums are in the body
    sent = [head for head in proxy.requests if head.startswith("PUT")]
    assert [("x-amz-checksum-crc32: " in head) for head in sent] == [named] * 3


@pytest.mark.slow(2)
def test_memory_does_not_grow_with_the_file(s3_servers: Callable[[str], Any], tmp_path: Path) -> None:
    server = s3_servers("rclone")
    with (tmp_path / "large").open("wb") as file:
        file.truncate(400 << 20)
    code = (
        "import os, resource, sys\n"
        "from smlocal.terms.rights import EVERYTHING\n"
        "from smlocal.data.sources.s3.client import open_store\n"
        "from smlocal.data.sources.s3.writer import GrowingFile\n"
        "from smlocal.data.sources.s3.upload import Item, upload_all\n"
        "from smlocal.data.sources.s3.writer import UploadTarget\n"
        "store = open_store('', rights=EVERYTHING)\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "source = GrowingFile.complete(os.open(sys.argv[1], os.O_RDONLY))\n"
        "upload_all(store, [Item(source=source, target=UploadTarget(bucket=sys.argv[2], key='k'))])\n"
        "print(before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "large"), server.make_bucket()]
    # The high-water mark of a child starts at its parent's; a shell in between keeps pytest's out of it.
    done = subprocess.run(
        ["sh", "-c", '"$@"; exit $?', "sh", *command],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **server.environment},
    )
    before, after = (int(each) * 1024 for each in done.stdout.split())
    assert after - before < 20_000_000  # botocore itself takes most
    assert after < 100_000_000
