"""A feeder whose bytes are in S3: what can go wrong there, and that nothing of it holds up the end."""

import gzip
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tests.data.channels.pipe_rig import Pipes, Source, in_s3, pipes_in
from tests.kit import until
from tests.kit.noise import noise
from tests.kit.reasons import assert_reason
from tests.kit.s3_servers import ON_MOTO, S3Server, S3Servers, opened

from smlocal.data.channels.pipe import feeder as sender
from smlocal.data.channels.pipe.fifo import StoppedError
from smlocal.errors import StagingError
from smlocal.terms.listing import Listing, Shard

LARGE = noise(20_000_000)
DOWNLOAD = "ClientError: Data download failed:Unable to download object"


@pytest.fixture
def pipes(tmp_path: Path, image: Callable[[str], str], docker: Callable[..., str]) -> Iterator[Pipes]:
    with pipes_in(tmp_path / "input", image, docker) as pipes:
        yield pipes


@pytest.fixture
def source(s3: S3Server) -> Source:
    return in_s3(s3)


def framed(payload: bytes) -> bytes:
    return b"\x0a\x23\xd7\xce" + len(payload).to_bytes(4, "little") + payload + bytes(-len(payload) % 4)


def test_sizes_need_not_be_known_before(pipes: Pipes, source: Source) -> None:
    listing = replace(source.listing({"a": b"12345", "b": b"", "c": LARGE}), sizes=(), etags=())
    pipes.feed(listing, store=source.store, record_io=True)
    for epoch in range(2):
        assert pipes.read(epoch) == framed(b"12345") + framed(b"") + framed(LARGE)


def test_shards_and_shuffles(pipes: Pipes, source: Source) -> None:
    listing = source.listing({f"{number}": b"%d " % number for number in range(10)})
    for index in range(2):
        shard = Shard(index=index, count=2)
        pipes.feed(listing, name=f"h{index}", store=source.store, seed=5, shard=shard)
    for epoch in range(2):
        read = [pipes.read(epoch, f"h{index}").split() for index in range(2)]
        assert sorted(read[0] + read[1]) == [b"%d" % number for number in range(10)]


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize("kept", [32 << 20, 1 << 20])
def test_gzip_in_records(pipes: Pipes, source: Source, monkeypatch: pytest.MonkeyPatch, kept: int) -> None:
    monkeypatch.setattr(sender, "_KEPT", kept)
    listing = source.listing({"a": gzip.compress(LARGE, 1), "b": gzip.compress(b"b")})
    pipes.feed(listing, store=source.store, record_io=True, gzip=True)
    assert pipes.read() == framed(LARGE) + framed(b"b")


@pytest.mark.slow(1)
def test_what_is_no_gzip(pipes: Pipes, source: Source) -> None:
    listing = source.listing({"a": gzip.compress(LARGE)[:-1]})
    pipes.feed(listing, store=source.store, gzip=True)
    said = pipes.reason()
    assert said == f"ClientError: Data download failed:Failed to decompress object {listing.uri('a')} as Gzip"


def test_an_object_that_is_gone(pipes: Pipes, source: Source, s3: S3Server) -> None:
    listing = source.listing({"a": LARGE, "b": b"b"})
    s3.client().delete_object(Bucket=listing.bucket, Key="p/b")
    pipes.feed(listing, store=source.store)
    assert pipes.reason().startswith(f"{DOWNLOAD} {listing.uri('b')} (NoSuchKey: ")


def test_an_object_that_changed(pipes: Pipes, source: Source, s3: S3Server) -> None:
    listing = source.listing({"a": LARGE, "b": b"b"})
    s3.put(listing.bucket, "p/b", b"another")
    pipes.feed(listing, store=source.store)
    assert_reason("pipe-object-changed", pipes.reason())


@ON_MOTO  # rclone keeps no checksums
@pytest.mark.parametrize("data", [b"one piece", LARGE], ids=["one piece", "several"])
def test_bytes_that_are_not_what_s3_was_given(pipes: Pipes, source: Source, s3: S3Server, data: bytes) -> None:
    listing = source.listing({"a": data})
    others = {"ChecksumAlgorithm": "CRC64NVME", "ChecksumCRC64NVME": "AAAAAAAAAAA="}  # moto believes it
    s3.client().put_object(Bucket=listing.bucket, Key="p/a", Body=data, **others)
    pipes.feed(listing, store=source.store)
    assert_reason("pipe-checksum", pipes.reason())
    assert listing.uri("a") in pipes.reason()


@pytest.mark.slow(7)
def test_a_server_that_goes_and_comes_again(pipes: Pipes, source: Source, s3: S3Server) -> None:
    files = {f"{number}": LARGE[number:] for number in range(10)}
    pipes.feed(source.listing(files), store=source.store)
    with pipes.fifo(0).open("rb", buffering=0) as fifo:
        read = [fifo.read(1 << 20)]
        s3.kill()
        timer = threading.Timer(1, s3.restart)
        timer.start()
        read += pipes.pieces(fifo)
        timer.join()
    assert b"".join(read) == b"".join(files.values())


@contextmanager
def frozen(s3: S3Server) -> Iterator[None]:
    """A server that does not answer."""
    assert s3.process is not None
    number = s3.process.pid

    def states() -> set[str]:
        tasks = Path(f"/proc/{number}/task").glob("*/stat")
        return {task.read_text().rpartition(")")[2].split()[0] for task in tasks}

    os.kill(number, signal.SIGSTOP)
    try:
        while states() != {"T"}:  # a thread on another processor may still give an answer
            time.sleep(0.01)
        yield
    finally:
        os.kill(number, signal.SIGCONT)


def manifest(source: Source, *lines: object) -> Listing:
    listing = source.listing({"m": b"".join(json.dumps(line).encode() + b"\n" for line in lines)})
    return replace(listing, sizes=(), etags=())


def test_an_augmented_manifest(pipes: Pipes, source: Source, tmp_path: Path) -> None:
    images = source.listing({f"{number}.jpg": b"<image %d>" % number for number in range(100)})
    (tmp_path / "0.jpg").write_bytes(b"<from here>")
    listing = manifest(source, *({"n": number, "i-ref": images.uri(f"{number}.jpg")} for number in range(100)))
    sources = {images.uri("0.jpg"): f"{tmp_path}/0.jpg"}
    pipes.feed(listing, store=source.store, attributes=("i-ref", "n"), record_io=True, sources=sources)
    expected = [framed(b"<from here>" if n == 0 else b"<image %d>" % n) + framed(b"%d" % n) for n in range(100)]
    for epoch in range(2):
        assert pipes.read(epoch) == b"".join(expected)


def test_an_augmented_manifest_that_is_wrong(pipes: Pipes, source: Source) -> None:
    listing = manifest(source, {"a": 1}, {"b": 2})
    with pytest.raises(StagingError) as caught:
        pipes.feed(listing, store=source.store, attributes=("a",))
    assert caught.value.sentence == (
        f"Data download failed:Failed to download data. Augmented manifest {listing.uri('m')} is not "
        "valid: line 2 has no attribute 'a'"
    )


def test_an_augmented_manifest_that_is_gone(pipes: Pipes, source: Source, s3: S3Server) -> None:
    listing = manifest(source, {"a": 1})
    s3.client().delete_object(Bucket=listing.bucket, Key="p/m")
    with pytest.raises(StagingError) as caught:
        pipes.feed(listing, store=source.store, attributes=("a",))
    assert f"ClientError: {caught.value.sentence}".startswith(f"{DOWNLOAD} {listing.uri('m')} (NoSuchKey: ")


def test_an_object_that_a_line_names_is_gone(pipes: Pipes, source: Source) -> None:
    there = source.listing({"there": b"there"})
    gone = there.bucket_uri + "gone"
    pipes.feed(
        manifest(source, {"x-ref": there.uri("there")}, {"x-ref": gone}), store=source.store, attributes=("x-ref",)
    )
    assert pipes.reason().startswith(f"{DOWNLOAD} {gone} (NoSuchKey: ")


def test_a_secret_that_is_wrong(pipes: Pipes, s3_servers: S3Servers) -> None:
    server = s3_servers("rclone")
    listing = in_s3(server).listing({"a": b"a"})
    wrong = {**server.environment, "AWS_SECRET_ACCESS_KEY": "wrong"}
    pipes.feed(listing, store=opened(wrong))
    assert pipes.reason().startswith(f"{DOWNLOAD} {listing.uri('a')} (SignatureDoesNotMatch: ")


def test_a_stop_while_s3_does_not_answer(pipes: Pipes, source: Source, s3: S3Server) -> None:
    feeder = pipes.feed(source.listing({"a": LARGE}), store=source.store)
    with frozen(s3), pipes.fifo(0).open("rb", buffering=0) as fifo:
        time.sleep(0.5)  # long enough to be waiting for the first byte
        feeder.stop()
        assert fifo.read(1) == b""
    assert pipes.broken == []


def test_a_stop_while_the_manifest_does_not_come(pipes: Pipes, source: Source, s3: S3Server) -> None:
    def stop_feeder() -> None:
        until(lambda: bool(pipes.feeders))
        time.sleep(0.5)  # long enough to be waiting for the first byte
        pipes.feeders[0].stop()

    listing = manifest(source, {"a": 1})
    stopping = threading.Thread(target=stop_feeder)
    with frozen(s3):
        stopping.start()
        with pytest.raises(StoppedError):
            pipes.feed(listing, store=source.store, attributes=("a",))
    stopping.join()
