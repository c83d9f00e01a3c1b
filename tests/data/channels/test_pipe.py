"""Real readers in containers on the FIFOs of a feeder, whose bytes come from here or from two S3 servers."""

import base64
import hashlib
import io
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from sagemaker_training.recordio import _read_recordio  # type: ignore[import-untyped] # published without types
from tests.data.channels.pipe_rig import Pipes, Source, here, in_s3, pipes_in
from tests.kit import until
from tests.kit.noise import noise
from tests.kit.s3_servers import S3Servers

FILES = {"a": b"first", "empty": b"", "large": noise(5_000_001), "z": b"last"}
SMALL = {f"{number:04}": b"%d\n" % number * (number % 7) for number in range(1000)}

SHELL = """
for epoch in 0 1 2; do cat train_$epoch | sha256sum | cut -c 1-64; done
"""
BLOCKING = """
import hashlib
for epoch in range(3):
    digest = hashlib.sha256()
    with open(f"train_{epoch}", "rb", buffering=0) as fifo:
        while piece := fifo.read(16 << 20):
            digest.update(piece)
    print(digest.hexdigest())
"""
SELECTING = """
import hashlib, os, select
for epoch in range(3):
    digest = hashlib.sha256()
    fifo = os.open(f"train_{epoch}", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    while True:
        assert select.select([fifo], [], [], 60)[0], "nothing for a minute"
        if not (piece := os.read(fifo, 1 << 20)):
            break
        digest.update(piece)
    os.close(fifo)
    print(digest.hexdigest())
"""
LEAVES_EARLY = """
for epoch in 0 1 2 3 4 5 6 7 8 9; do head -c 5 train_$epoch; done
cat train_10 | sha256sum | cut -c 1-64
"""
FOUR_AT_ONCE = """
for channel in a b c d; do
    for epoch in 0 1; do cat ${channel}_$epoch | sha256sum | cut -c 1-64 > /tmp/$channel.$epoch; done &
done
wait
cat /tmp/?.?
"""
READERS = {"shell": ("sh", SHELL), "blocking": ("py", BLOCKING), "select": ("py", SELECTING)}


def digest(files: Mapping[str, bytes]) -> str:
    return hashlib.sha256(b"".join(files.values())).hexdigest()


@pytest.fixture
def pipes(tmp_path: Path, image: Callable[[str], str], docker: Callable[..., str]) -> Iterator[Pipes]:
    with pipes_in(tmp_path / "input", image, docker) as pipes:
        yield pipes


@pytest.fixture(params=["local", "rclone"])
def source(request: pytest.FixtureRequest, tmp_path: Path, s3_servers: S3Servers) -> Source:
    return here(tmp_path / "data") if request.param == "local" else in_s3(s3_servers(request.param))


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize("reader", READERS)
def test_every_reader_gets_every_byte(pipes: Pipes, source: Source, reader: str) -> None:
    pipes.feed(source.listing(FILES), store=source.store)
    assert pipes.run(*READERS[reader]).split() == [digest(FILES)] * 3
    assert pipes.broken == []


def test_ten_epochs_left_early_and_then_a_whole_one(pipes: Pipes, source: Source) -> None:
    pipes.feed(source.listing(FILES), store=source.store)
    assert pipes.run("sh", LEAVES_EARLY) == "first" * 10 + digest(FILES) + "\n"
    assert pipes.broken == []


def test_four_channels_at_once(pipes: Pipes, source: Source) -> None:
    listing = source.listing(FILES)
    for name in "abcd":
        pipes.feed(listing, name=name, store=source.store)
    assert pipes.run("sh", FOUR_AT_ONCE).split() == [digest(FILES)] * 8
    assert pipes.broken == []


@pytest.mark.slow(2, others=True)
def test_a_thousand_small_files(pipes: Pipes, source: Source) -> None:
    listing = source.listing(SMALL)
    pipes.feed(listing, name="plain", store=source.store)
    pipes.feed(listing, name="framed", store=source.store, record_io=True)
    read = pipes.run("sh", "for channel in plain framed; do cat ${channel}_0 | base64 -w 0; echo; done").split()
    plain, framed = map(base64.b64decode, read)
    assert plain == b"".join(SMALL.values())
    assert list(_read_recordio(io.BytesIO(framed))) == list(SMALL.values())


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_an_image_that_does_not_run_as_root(pipes: Pipes, tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        pipes.feed(here(tmp_path / "data").listing(FILES))
        pipes.folder.chmod(0o755)
        assert pipes.run("sh", SHELL, "--user", "12345").split() == [digest(FILES)] * 3
    finally:
        os.umask(before)


def test_a_container_that_dies_with_a_fifo_open(pipes: Pipes, source: Source) -> None:
    """The feeder stays as it is; the next container goes on with the next epoch."""
    pipes.feed(source.listing(FILES), store=source.store)
    script = "exec 3<train_0; head -c 5 <&3; exec 4<train_1; head -c 5 <&4; sleep 1000"
    with subprocess.Popen(["docker", *pipes.command("sh", script)], stdout=subprocess.PIPE) as container:
        assert container.stdout is not None
        assert container.stdout.read(10) == b"first" * 2
        pipes.docker("kill", pipes.container)
    until(lambda: not pipes.docker("ps", "--all", "--quiet", "--filter", f"name={pipes.container}"))
    assert pipes.run("sh", "cat train_2 | sha256sum | cut -c 1-64") == digest(FILES) + "\n"
    assert pipes.broken == []
