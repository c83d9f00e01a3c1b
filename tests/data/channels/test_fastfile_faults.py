"""S3, the server of a channel, its parent, or a reader goes away: reads end, and no mount is left."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from errno import EIO
from pathlib import Path

import pytest
from tests.data.channels.fastfile_rig import Mounter, mounted_below, mounter, python, seed
from tests.kit import until
from tests.kit.noise import noise
from tests.kit.s3_servers import REGION, S3Server, S3Servers

from smlocal.data.channels.fastfile.availability import unmount_below
from smlocal.data.channels.fastfile.mount import FuseMount
from smlocal.errors import StreamNotStartedError
from smlocal.terms.listing import Listing

BIG = noise(40 << 20)

MOUNT_AND_WAIT = """
import sys, time
from smlocal.data.channels.fastfile.mount import FuseMount
from smlocal.terms.listing import Listing
listing = Listing(root="", bucket_uri="s3://b/", prefix="", key_base="", paths=["file"], sizes=[1], etags=['"e"'],
                  total_bytes=1, whole_tree=False)
mount = FuseMount.start(listing, region="eu-west-1", directory=sys.argv[1], died=print)
print(mount.mount_point, flush=True)
time.sleep(600)
"""


@pytest.fixture
def mounted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Mounter]:
    with mounter(monkeypatch) as make:
        yield make


@pytest.fixture
def listing(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> Listing:
    return seed(s3, {"big": BIG, "small": b"small"}, monkeypatch)


@pytest.fixture
def rclone(s3_servers: S3Servers) -> S3Server:
    """For what is the same whichever server it is."""
    return s3_servers("rclone")


@pytest.fixture
def one_listing(rclone: S3Server, monkeypatch: pytest.MonkeyPatch) -> Listing:
    return seed(rclone, {"big": BIG, "small": b"small"}, monkeypatch)


@pytest.mark.slow(2)
def test_a_read_goes_on_when_s3_is_back(s3: S3Server, listing: Listing, mounted: Mounter) -> None:
    path = mounted(s3, listing, read_seconds=120).path  # on a busy machine a server may take half a minute to come back
    with (path / "big").open("rb") as file, ThreadPoolExecutor(1) as pool:
        assert file.read(1000) == BIG[:1000]
        s3.kill()
        rest = pool.submit(file.read)
        time.sleep(2)  # for reads to fail in; whether they have yet does not matter
        s3.restart()
        assert rest.result() == BIG[1000:]


@pytest.mark.slow(2)
def test_a_read_fails_when_s3_stays_away_and_the_next_succeeds_when_it_is_back(
    s3: S3Server, listing: Listing, mounted: Mounter
) -> None:
    channel = mounted(s3, listing, read_seconds=4)
    s3.kill()
    try:
        for name in ("big", "small", "small"):
            with pytest.raises(OSError, match="error") as caught:
                (channel.path / name).read_bytes()
            assert caught.value.errno == EIO
        assert (channel.path / "small").stat().st_size == 5
        base = listing.bucket_uri + listing.key_base
        assert {each.uri for each in channel.mount.unread()} == {f"{base}big", f"{base}small"}
        assert {each.code for each in channel.mount.unread()} <= {"RequestTimeout", "RequestError"}
    finally:
        s3.restart()

    def readable() -> bool:
        with suppress(OSError):  # what failed is refused for two seconds, and a server that has just started is slow
            return (channel.path / "small").read_bytes() == b"small"
        return False

    until(readable)


@pytest.mark.slow(1)
def test_a_reader_that_is_killed_does_not_wait_for_s3(rclone: S3Server, one_listing: Listing, mounted: Mounter) -> None:
    channel = mounted(rclone, one_listing)
    assert rclone.process is not None
    rclone.process.send_signal(signal.SIGSTOP)
    try:
        with python("import sys; open(sys.argv[1], 'rb').read()", str(channel.path / "big")) as reader:
            until(lambda: "/big" in "".join(_open_files(reader.pid)))
            reader.kill()
            assert reader.wait(60) == -signal.SIGKILL
        assert (channel.path / "small").stat().st_size == 5
    finally:
        rclone.process.send_signal(signal.SIGCONT)


def test_a_server_that_is_killed_is_noticed_and_its_mount_goes(
    rclone: S3Server, one_listing: Listing, mounted: Mounter
) -> None:
    channel = mounted(rclone, one_listing)
    with (channel.path / "big").open("rb", buffering=0) as file:
        file.read(1000)
        channel.server.kill()
        until(lambda: channel.deaths != [])
        with pytest.raises(OSError, match=r"\w"):
            os.pread(file.fileno(), 1000, 30 << 20)
    assert channel.deaths == ["the FastFile server ended with -9"]
    assert mounted_below(channel.folder) == []
    channel.mount.stop()
    assert len(channel.deaths) == 1


@pytest.mark.slow(1)
def test_stopping_is_no_death_and_does_not_wait_for_readers(
    rclone: S3Server, one_listing: Listing, mounted: Mounter
) -> None:
    channel = mounted(rclone, one_listing)
    with (channel.path / "big").open("rb") as file:
        file.read(1000)
        channel.mount.stop()
        assert mounted_below(channel.folder) == []
    channel.mount.stop()
    assert channel.server.returncode is not None
    assert channel.deaths == []
    assert list(channel.path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_server_that_is_told_to_end_unmounts(
    rclone: S3Server, one_listing: Listing, mounted: Mounter, number: signal.Signals
) -> None:
    channel = mounted(rclone, one_listing)
    channel.server.send_signal(number)
    until(lambda: channel.deaths != [])
    assert mounted_below(channel.folder) == []


def test_a_server_is_out_of_reach_of_the_terminal(rclone: S3Server, one_listing: Listing, mounted: Mounter) -> None:
    server = mounted(rclone, one_listing).server
    assert os.getsid(server.pid) == server.pid != os.getsid(0)


def test_a_mount_ends_with_whoever_made_it(rclone: S3Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in rclone.environment.items():
        monkeypatch.setenv(name, value)
    with python(MOUNT_AND_WAIT, str(tmp_path)) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline().decode().strip() == str(tmp_path / "mount")
        assert os.listdir(tmp_path / "mount") == ["file"]
        owner.kill()
    until(lambda: mounted_below(tmp_path) == [])
    assert os.listdir(tmp_path / "mount") == []


def test_what_a_crash_left_mounted_is_unmounted(
    rclone: S3Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in rclone.environment.items():
        monkeypatch.setenv(name, value)
    job = tmp_path / "a job"
    job.mkdir()
    with python(MOUNT_AND_WAIT, str(job)) as owner:
        assert owner.stdout is not None
        owner.stdout.readline()
        for server in _children(owner.pid):
            os.kill(server, signal.SIGKILL)
        owner.kill()
    unmount_below(str(job))
    assert Path("/proc/self/mountinfo").read_text().count(str(job.parent)) == 0
    unmount_below(str(job))
    shutil.rmtree(job)


def test_a_mount_that_cannot_be_made_says_why(
    one_listing: Listing, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    with pytest.raises(StreamNotStartedError) as caught:
        FuseMount.start(one_listing, region=REGION, directory=str(tmp_path), died=print)
    assert "redentials" in caught.value.details[0]
    assert mounted_below(tmp_path) == []


@pytest.mark.slow(1)
def test_somebody_who_is_not_root_mounts_and_unmounts(
    rclone: S3Server, one_listing: Listing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the settings and the device that FUSE needs for that, which are not everywhere as they should be."""
    script = f"""
import os, shutil, subprocess, sys, tempfile
from smlocal.data.channels.fastfile.availability import why_no_fuse
from smlocal.data.channels.fastfile.mount import FuseMount
from smlocal.data.channels.fastfile.availability import unmount_below
from smlocal.terms.listing import Listing
trouble = why_no_fuse()
assert trouble is None, trouble
listing = Listing(root="", bucket_uri={one_listing.bucket_uri!r}, prefix="", key_base="data/", paths=["small"],
                  sizes=[5], etags={list(one_listing.etags[1:])!r}, total_bytes=5, whole_tree=False)
for way in ("stop", "unmount_below", "crash"):
    folder = tempfile.mkdtemp(prefix="smlocal-fastfile-")
    mount = FuseMount.start(listing, region="eu-west-1", directory=folder, died=str)
    assert open(mount.mount_point + "/small").read() == "small"
    if way == "crash":
        mount._stopping = True
        mount._process.kill()
        mount._process.wait()
    if way == "stop":
        mount.stop()
    else:
        unmount_below(folder)
    assert folder not in open("/proc/self/mountinfo").read()
    shutil.rmtree(folder)
print("fine")
"""
    for name, value in rclone.environment.items():
        monkeypatch.setenv(name, value)
    prepare = (
        "set -e; echo user_allow_other > $1/fuse.conf; mount --bind $1/fuse.conf /etc/fuse.conf; "
        "mknod $1/fuse c 10 229; chmod 666 $1/fuse; mount --bind $1/fuse /dev/fuse; "
        # The right to look everywhere, because this Python may lie in root's home.
        "exec setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps +dac_read_search "
        '--ambient-caps +dac_read_search "$2" -c "$3"'
    )
    folder = Path(tempfile.mkdtemp(prefix="smlocal-test-", dir="/dev"))  # where a device file may be used
    folder.chmod(0o755)
    try:
        said = subprocess.run(
            [
                "unshare",
                "--mount",
                "--propagation",
                "private",
                "sh",
                "-c",
                prepare,
                "sh",
                folder,
                sys.executable,
                script,
            ],
            capture_output=True,
            text=True,
            check=False,
            cwd="/tmp",
        )
    finally:
        shutil.rmtree(folder)
    assert said.stdout == "fine\n", said.stderr


def _open_files(process: int) -> list[str]:
    folder = Path(f"/proc/{process}/fd")
    try:
        return [os.readlink(each) for each in folder.iterdir()]
    except FileNotFoundError:
        return []


def _children(process: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
