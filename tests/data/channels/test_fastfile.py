"""A channel of objects in S3 is a read-only folder for all users, in the container and beside it."""

import mmap
import os
import random
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from errno import EIO, ENOENT, EROFS
from pathlib import Path

import pytest
from tests.data.channels.fastfile_rig import Mounter, mounter, seed
from tests.kit.noise import noise
from tests.kit.s3_servers import S3Server, S3Servers

from smlocal.terms.listing import Listing

NOBODY = 65534
BIG = noise(20 << 20)
OBJECTS = {
    "a/b/deep.txt": b"deep",
    "a/big.bin": BIG,
    "a-file": b"between",
    "a/empty": b"",
    "käse und brot.txt": b"cheese",
}
LISTED = """\
.:
a
a-file
käse und brot.txt

./a:
b
big.bin
empty

./a/b:
deep.txt
"""


@pytest.fixture
def mounted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Mounter]:
    with mounter(monkeypatch) as make:
        yield make


@pytest.fixture
def listing(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> Listing:
    return seed(s3, OBJECTS, monkeypatch)


def test_every_object_is_a_file(s3: S3Server, listing: Listing, mounted: Mounter) -> None:
    path = mounted(s3, listing).path
    found = {str(each.relative_to(path)): each.read_bytes() for each in path.rglob("*") if each.is_file()}
    assert found == OBJECTS
    said = subprocess.run(
        ["ls", "-R"], cwd=path, capture_output=True, check=True, env={"LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]}
    )
    assert said.stdout.decode() == LISTED
    subprocess.run(["ls", "-lR"], cwd=path, capture_output=True, check=True)


def test_files_look_as_in_file_mode(s3: S3Server, listing: Listing, mounted: Mounter) -> None:
    path = mounted(s3, listing).path
    for each in (path, *path.rglob("*")):
        status = each.stat()
        assert (status.st_uid, status.st_gid) == (0, 0)
        assert stat.S_IMODE(status.st_mode) == (0o755 if each.is_dir() else 0o644)
    assert len({each.stat().st_ino for each in (path, *path.rglob("*"))}) == len(OBJECTS) + 3
    with os.scandir(path / "a") as entries:
        assert {entry.name: entry.inode() for entry in entries} == {
            name: (path / "a" / name).stat().st_ino for name in ("b", "big.bin", "empty")
        }
    space = os.statvfs(path)
    assert space.f_blocks * space.f_frsize >= len(BIG)
    assert space.f_bavail == 0
    assert not (path / "absent").exists()
    with pytest.raises(FileNotFoundError) as caught:
        (path / "a" / "absent").read_bytes()
    assert caught.value.errno == ENOENT


def test_any_place_can_be_read_at_any_time(s3: S3Server, listing: Listing, mounted: Mounter) -> None:
    chance = random.Random(2)
    with (mounted(s3, listing).path / "a/big.bin").open("rb", buffering=0) as file:
        for _ in range(60):
            start = chance.randrange(len(BIG) + 10)
            count = chance.choice([1, 100, 4096, 200_000, 3_000_000])
            got = b""
            while piece := os.pread(file.fileno(), count - len(got), start + len(got)):
                got += piece
            assert got == BIG[start : start + count]


def test_many_read_at_once(s3: S3Server, listing: Listing, mounted: Mounter) -> None:
    path = mounted(s3, listing).path

    def work(number: int) -> bool:
        name = [*OBJECTS][number % len(OBJECTS)]
        if number % 2:
            return (path / name).read_bytes() == OBJECTS[name]
        start = number * 100_003 % len(BIG)
        with (path / "a/big.bin").open("rb") as file:
            file.seek(start)
            return file.read(100_000) == BIG[start : start + 100_000]

    with ThreadPoolExecutor(12) as pool:
        assert all(pool.map(work, range(60)))


def test_files_can_be_mapped(s3: S3Server, listing: Listing, mounted: Mounter) -> None:
    with (
        (mounted(s3, listing).path / "a/big.bin").open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped,
    ):
        for start in (19_000_000, 0, 7_654_321):
            assert mapped[start : start + 5000] == BIG[start : start + 5000]
        assert mapped[:] == BIG


def test_files_can_be_sent_without_being_read(s3: S3Server, listing: Listing, mounted: Mounter, tmp_path: Path) -> None:
    copied = 0
    with (mounted(s3, listing).path / "a/big.bin").open("rb") as file, (tmp_path / "copy").open("wb") as copy:
        while count := os.sendfile(copy.fileno(), file.fileno(), copied, 1 << 30):
            copied += count
    assert copied == len(BIG)
    assert (tmp_path / "copy").read_bytes() == BIG


def test_nothing_can_be_written(s3: S3Server, listing: Listing, mounted: Mounter) -> None:
    path = mounted(s3, listing).path

    def mark() -> None:
        if sys.platform == "linux":
            os.setxattr(path / "a-file", "user.x", b"x")

    for write in (
        lambda: (path / "new").write_bytes(b"x"),
        lambda: (path / "a-file").open("ab"),
        lambda: (path / "a-file").open("r+b"),
        (path / "a-file").unlink,
        lambda: (path / "a-file").rename(path / "other"),
        lambda: (path / "a-file").chmod(0o600),
        lambda: os.truncate(path / "a-file", 0),
        lambda: os.utime(path / "a-file"),
        (path / "folder").mkdir,
        (path / "a/b").rmdir,
        lambda: (path / "link").symlink_to("a-file"),
        lambda: os.link(path / "a-file", path / "link"),
        mark,
    ):
        with pytest.raises(OSError, match="Read-only") as caught:
            write()
        assert caught.value.errno == EROFS
    assert not os.access(path / "a-file", os.W_OK)


@pytest.mark.slow(1)
def test_others_read_it_too(s3: S3Server, listing: Listing, mounted: Mounter) -> None:
    path = mounted(s3, listing).path
    said = subprocess.run(["cat", path / "a/b/deep.txt"], capture_output=True, check=True, user=NOBODY)
    assert said.stdout == b"deep"
    refused = subprocess.run(["touch", path / "new"], capture_output=True, check=False, user=NOBODY)
    assert b"Read-only file system" in refused.stderr


@pytest.mark.slow(1)
@pytest.mark.parametrize("user", ["0", str(NOBODY)])
def test_a_container_reads_it_and_cannot_write(
    s3: S3Server, listing: Listing, mounted: Mounter, docker: Callable[..., str], image: Callable[[str], str], user: str
) -> None:
    path = mounted(s3, listing).path
    script = (
        "cat a/b/deep.txt; cmp a/big.bin a/big.bin && wc -c < a/big.bin; "
        "for file in new a-file; do ( echo x > $file ) 2>&1; done; true"
    )
    said = docker(
        "run", "--rm", "--user", user, "-v", f"{path}:/data:ro", "-w", "/data", "--entrypoint", "/bin/sh",
        image("sh"), "-c", script,
    )  # fmt: skip
    assert said.startswith(f"deep{len(BIG)}\n")
    assert said.count("Read-only file system") == 2


def test_an_object_that_changed_cannot_be_read(s3: S3Server, listing: Listing, mounted: Mounter) -> None:
    channel = mounted(s3, listing)
    s3.put(listing.bucket, "data/a-file", b"another")
    with pytest.raises(OSError, match="error") as caught:
        (channel.path / "a-file").read_bytes()
    assert caught.value.errno == EIO
    assert f"s3://{listing.bucket}/data/a-file: PreconditionFailed" in channel.log
    assert (channel.path / "a/b/deep.txt").read_bytes() == b"deep"


@pytest.mark.slow(2)
def test_a_hundred_thousand_objects(s3_servers: S3Servers, mounted: Mounter) -> None:
    count = 100_000
    listing = Listing(
        root="",
        bucket_uri="s3://bucket/",
        prefix="",
        key_base="",
        paths=[f"flat/{number:06}" for number in range(count)],
        sizes=range(count),
        etags=[f'"{number}"' for number in range(count)],
        total_bytes=count,
        whole_tree=False,
    )
    channel = mounted(s3_servers("rclone"), listing)
    assert sorted(os.listdir(channel.path / "flat")) == [f"{number:06}" for number in range(count)]
    with os.scandir(channel.path / "flat") as entries:
        assert sum(entry.stat().st_size for entry in entries) == count * (count - 1) // 2
    peak = next(line for line in Path(f"/proc/{channel.server.pid}/status").read_text().splitlines() if "VmHWM" in line)
    assert int(peak.split()[1]) < 200_000
