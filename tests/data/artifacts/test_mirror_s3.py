"""A mirror whose target is a prefix of S3, on real servers."""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from tests.data.artifacts.test_publish_s3 import half_sent
from tests.data.s3.troubled_proxy import TroubledProxy, refused
from tests.kit import until
from tests.kit.s3_servers import S3Server, S3Servers, environment, opened
from tests.unit.data.artifacts.mirror.mirror_rig import Rig, files_in
from tests.unit.data.artifacts.mirror.test_any_order import OPERATIONS, carry_out

from smlocal.data.artifacts.mirror import host_mirror
from smlocal.data.artifacts.mirror import host_mirror as schedule
from smlocal.data.artifacts.mirror.s3_target import S3Target
from smlocal.data.artifacts.mirror.target import FileChangedError
from smlocal.data.sources.s3.upload import NoJournal
from smlocal.data.sources.s3.writer import UploadTarget
from smlocal.errors import ArtifactError

PREFIX = "a b/ckpt/"
ON_DISK = pytest.mark.parametrize("s3", ["rclone"], indirect=True)
"""The server that is the same again after it was killed."""


class S3Rig(Rig):
    """Some hosts' folders and the prefix that they are mirrored to; nothing is restored."""

    def __init__(self, root: Path, server: S3Server, url: str, hosts: int = 1) -> None:
        super().__init__(root, hosts)
        self.server = server
        self.bucket = server.make_bucket()
        self.url = url
        self.at_once = 1

    def place(self, retry_seconds: float = 1) -> S3Target:
        return S3Target(
            prefix=UploadTarget(bucket=self.bucket, key=PREFIX),
            open_store=lambda: opened(environment(self.url), retry_seconds=retry_seconds),
            journal=NoJournal(),
            cancelled=lambda: False,
            at_once=self.at_once,
        )

    def mirrored(self) -> dict[str, bytes]:
        client = self.server.client()
        found = {}
        for page in client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket):
            for each in page.get("Contents", ()):
                with suppress(client.exceptions.NoSuchKey):
                    body = client.get_object(Bucket=self.bucket, Key=each["Key"])["Body"].read()
                    found[each["Key"].removeprefix(PREFIX)] = body
        return found


@pytest.fixture
def rig(s3: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Rig]:
    monkeypatch.setattr(schedule, "REPEAT_SECONDS", 0.1)
    monkeypatch.setattr(host_mirror, "_RETRY_SECONDS", 0.2)
    with closing(S3Rig(tmp_path / "rig", s3, s3.url)) as made:
        yield made


@settings(max_examples=12)
@given(operations=OPERATIONS)
def hold_whatever_is_done(server: Any, operations: list[tuple[str, ...]]) -> None:
    with TemporaryDirectory() as folder, closing(S3Rig(Path(folder) / "rig", server, server.url)) as made:
        at = made.start()
        for operation in operations:
            carry_out(made, at, operation)
        made.finish()
        assert made.mirrored() == files_in(at)
        assert made.notes == []


@pytest.mark.slow(5)
def test_whatever_is_done_s3_has_the_same_in_the_end(s3_servers: S3Servers) -> None:
    hold_whatever_is_done(s3_servers("moto"))  # the other server cannot hold `p` and `p/q` at once


@pytest.mark.slow(1)
@ON_DISK
def test_a_server_that_goes_and_comes_again(s3: S3Server, rig: S3Rig) -> None:
    folder = rig.start()
    (folder / "a").write_text("1")
    until(lambda: rig.mirrored() == {"a": b"1"})
    s3.kill()
    (folder / "a").unlink()
    (folder / "b").write_text("2")
    until(lambda: rig.mirror is not None and bool(rig.mirror.notes))
    s3.restart()
    until(lambda: rig.mirrored() == {"b": b"2"})
    assert rig.finish().written == ()
    assert len(rig.notes) == 1
    assert rig.notes[0].startswith("algo-1: files could not be mirrored immediately: Unable to")


def test_what_s3_refuses(s3: Any, rig: S3Rig) -> None:
    with TroubledProxy(s3.port) as proxy:
        rig.url = proxy.url
        folder = rig.start()
        proxy.next(refused(403, "AccessDenied"), method="PUT")
        (folder / "a").write_text("1")
        until(lambda: rig.mirrored() == {"a": b"1"})
        rig.stop()
        assert rig.notes == [
            "algo-1: files could not be mirrored immediately: Error 7: AccessDenied (403): said AccessDenied"
        ]
        (folder / "a").unlink()
        proxy.next(refused(403, "AccessDenied"), method="DELETE")
        with pytest.raises(ArtifactError) as error:
            rig.finish()
        assert error.value.sentence == "Artifact upload failed:Error 7: AccessDenied (403): said AccessDenied"
        assert error.value.details == (f"s3://{rig.bucket}/{PREFIX}a",)


def test_small_files_are_saved_at_once(s3: Any, rig: S3Rig) -> None:
    folder = rig.start()
    rig.stop()
    for number in range(30):
        (folder / str(number)).write_text(f"{number}")
    together = threading.Barrier(2)

    def meet(client: socket.socket, answer: bytes) -> bool:
        together.wait(60)
        client.sendall(answer)
        return False

    with TroubledProxy(s3.port) as proxy:
        rig.url, rig.at_once = proxy.url, 4
        proxy.next(meet, meet, *[refused(403, "AccessDenied")] * 5, method="PUT")
        with pytest.raises(ArtifactError, match="AccessDenied"):
            rig.finish()
    rig.url = s3.url
    assert len(rig.finish().written) == 30
    assert rig.mirrored() == files_in(folder)


@ON_DISK
def test_who_waits_hears_of_it_and_may_break_it_off(s3: S3Server, rig: S3Rig) -> None:
    (rig.root / "large").write_bytes(b"x" * 17_000_000)
    said: list[str] = []
    target = replace(rig.place(retry_seconds=60), working=said.append, cancelled=lambda: len(said) > 1)
    s3.kill()
    try:
        with (
            (rig.root / "large").open("rb") as file,
            target.open() as place,
            pytest.raises(OSError, match="it was interrupted") as error,
        ):
            place.write(b"large", file.fileno(), mtime=0)
    finally:
        s3.restart()
    assert error.value.filename == f"s3://{rig.bucket}/{PREFIX}large"


def test_a_name_that_no_object_can_have(rig: S3Rig) -> None:
    folder = rig.start()
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff")).write_text("1")
    (folder / "b ä+%").write_text("2")
    until(lambda: rig.mirrored() == {"b ä+%": b"2"} and rig.mirror is not None and bool(rig.mirror.notes))
    with pytest.raises(ArtifactError, match=r"Artifact upload failed:the name \\xff is not UTF-8"):
        rig.finish()


@pytest.mark.parametrize("size", [3, 17_000_000])
def test_what_has_changed_meanwhile_is_not_shown(rig: S3Rig, size: int) -> None:
    path = rig.root / "file"
    path.write_bytes(b"x" * size)
    answers = iter([False, True])
    with path.open("rb") as file, rig.place().open() as place:
        with pytest.raises(FileChangedError):
            place.write(b"a", file.fileno(), mtime=0, unchanged=lambda: next(answers))
        assert rig.mirrored() == {}
        assert half_sent(rig.server, rig.bucket) == []
        place.write(b"a", file.fileno(), mtime=0, unchanged=lambda: next(answers))
    assert {path: len(content) for path, content in rig.mirrored().items()} == {"a": size}
