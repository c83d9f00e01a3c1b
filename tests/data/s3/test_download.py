"""Files that are whole, verified, and under their names only then."""

import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.data.s3.troubled_proxy import TroubledProxy, cut_after, dropped, slow_down, with_flipped_byte
from tests.kit import until
from tests.kit.s3_servers import S3Server

from smlocal.data.sources.s3.client import S3Client
from smlocal.data.sources.s3.download import download_all
from smlocal.data.sources.s3.error_responses import FetchCancelledError
from smlocal.data.sources.s3.interface import S3Error, S3Object

PART = 1 << 20
SIZES = (0, 1, 1000, PART - 1, PART, PART + 1, 5 * PART + 3)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    folder = tmp_path / "target"
    folder.mkdir()
    return folder


@pytest.fixture
def contents(s3: S3Server, bucket: str, bytes_of: Callable[[int], bytes]) -> dict[str, bytes]:
    made = {f"{size:08}": bytes_of(size) for size in SIZES} | {f"small/{n:03}": b"%d" % n for n in range(60)}
    for key, data in made.items():
        s3.put(bucket, key, data)
    return made


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize("known", [True, False])
def test_everything_comes(
    store: S3Client, bucket: str, contents: dict[str, bytes], target: Path, *, known: bool
) -> None:
    listed = list(store.list_objects(bucket, ""))
    asked = listed if known else [S3Object(bucket=bucket, key=each.key) for each in listed]
    told: list[tuple[int, int]] = []
    before = os.umask(0o077)
    try:
        found = download_all(
            store,
            ((each, str(target / each.key.replace("/", "-"))) for each in asked),
            part=PART,
            progress=lambda count, objects: told.append((count, objects)),
        )
    finally:
        os.umask(before)
    assert found == listed
    assert files(target) == {key.replace("/", "-"): data for key, data in contents.items()}
    assert {path.stat().st_mode & 0o777 for path in target.iterdir()} == {0o644}
    assert (sum(count for count, _ in told), sum(n for _, n in told)) == (
        sum(map(len, contents.values())),
        len(contents),
    )


def test_nothing_to_do(store: S3Client) -> None:
    assert download_all(store, []) == []


def test_trouble_on_the_way_is_not_seen_in_the_files(
    proxy: TroubledProxy, troubled: S3Client, bucket: str, contents: dict[str, bytes], target: Path
) -> None:
    listed = list(troubled.list_objects(bucket, "0"))
    proxy.next(cut_after(700), dropped, slow_down, cut_after(0), cut_after(500_000), slow_down, cut_after(300_000))
    download_all(troubled, ((each, f"{target}/{each.key}") for each in listed), part=PART, threads=3)
    assert files(target) == {key: data for key, data in contents.items() if key.startswith("0")}


def test_one_wrong_byte_is_noticed_and_fetched_again(
    proxy: TroubledProxy, troubled: S3Client, bucket: str, contents: dict[str, bytes], target: Path
) -> None:
    wanted = next(troubled.list_objects(bucket, "00001000"))
    told: list[int] = []
    proxy.next(with_flipped_byte)
    download_all(troubled, [(wanted, f"{target}/k")], progress=lambda count, _: told.append(count))
    assert files(target) == {"k": contents["00001000"]}
    assert sum(told) == 1000


@pytest.mark.usefixtures("contents")
def test_bytes_that_stay_wrong_are_an_error(
    proxy: TroubledProxy, troubled: S3Client, bucket: str, target: Path
) -> None:
    wanted = next(troubled.list_objects(bucket, "00001000"))
    proxy.next(with_flipped_byte, with_flipped_byte)
    with pytest.raises(S3Error) as error:
        download_all(troubled, [(wanted, f"{target}/k")])
    assert (error.value.code, error.value.uri) == ("BadDigest", wanted.uri)
    assert files(target) == {}


def test_an_object_that_has_vanished_since_it_was_listed(
    s3: S3Server, store: S3Client, bucket: str, contents: dict[str, bytes], target: Path
) -> None:
    listed = list(store.list_objects(bucket, ""))
    s3.client().delete_object(Bucket=bucket, Key="00001000")
    with pytest.raises(S3Error) as error:
        download_all(store, ((each, f"{target}/{each.key.replace('/', '-')}") for each in listed), part=PART)
    assert (error.value.code, error.value.uri) == ("NoSuchKey", f"s3://{bucket}/00001000")
    whole = {key.replace("/", "-"): data for key, data in contents.items()}
    assert all(whole[name] == data for name, data in files(target).items())


def test_a_listing_that_fails_half_way(store: S3Client, bucket: str, contents: dict[str, bytes], target: Path) -> None:
    listed = list(store.list_objects(bucket, "small/"))
    assert len(listed) == len([key for key in contents if key.startswith("small/")])

    def broken() -> Iterator[tuple[S3Object, str]]:
        for each in listed[:10]:
            yield each, f"{target}/{each.key[6:]}"
        raise S3Error("AccessDenied", "Access Denied", status=403)

    with pytest.raises(S3Error, match="AccessDenied"):
        download_all(store, broken())


@pytest.mark.usefixtures("contents")
def test_a_name_that_is_taken(store: S3Client, bucket: str, target: Path) -> None:
    (target / "k").write_bytes(b"mine")
    with pytest.raises(FileExistsError):
        download_all(store, [(next(store.list_objects(bucket, "00001000")), f"{target}/k")])
    assert files(target) == {"k": b"mine"}


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize("stop", ["cancelled", "ctrl-c"])
def test_a_stop_leaves_no_half_file(
    proxy: TroubledProxy, troubled: S3Client, bucket: str, contents: dict[str, bytes], target: Path, stop: str
) -> None:
    held = threading.Event()

    def hold(*_: object) -> bool:
        held.set()
        # Longer than any client waits; then the connection ends.
        release.wait(120)
        return True

    release = threading.Event()
    listed = list(troubled.list_objects(bucket, "0"))
    proxy.next(hold, cut_after(1000), hold, hold)

    def progress(_bytes: int, _objects: int) -> None:
        if stop == "ctrl-c" and held.is_set():
            raise KeyboardInterrupt

    expected = FetchCancelledError if stop == "cancelled" else KeyboardInterrupt
    with pytest.raises(expected):
        download_all(
            troubled,
            ((each, f"{target}/{each.key}") for each in listed),
            part=PART,
            progress=progress,
            cancelled=lambda: stop == "cancelled" and held.is_set(),
        )
    release.set()
    # A thread that hung on the silent server was left behind; it ends as soon as the connection does.
    until(lambda: not [thread for thread in threading.enumerate() if thread.name.startswith("s3-")])
    assert all(contents[name] == data for name, data in files(target).items())
    assert len(files(target)) < len(listed)


@pytest.mark.usefixtures("contents")
def test_a_full_disk(store: S3Client, bucket: str, small_disk: Path) -> None:
    listed = [each for each in store.list_objects(bucket, "0") if each.size and each.size > PART]
    with pytest.raises(OSError, match="No space left on device"):
        download_all(store, ((each, f"{small_disk}/{each.key}") for each in listed), part=PART)
    assert not list(small_disk.iterdir())
    assert os.statvfs(small_disk).f_bfree > 0


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MiB."""
    if os.getuid() != 0:
        pytest.skip("only root may mount")
    place = tmp_path / "small"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place], check=True)
    yield place
    subprocess.run(["umount", place], check=True)


@pytest.mark.usefixtures("contents")
def test_no_descriptor_is_left_open(store: S3Client, bucket: str, target: Path) -> None:
    listed = list(store.list_objects(bucket, ""))

    def once(folder: Path) -> int:
        folder.mkdir()
        download_all(store, ((each, f"{folder}/{each.key.replace('/', '-')}") for each in listed), part=PART)
        store.close()
        return len(os.listdir("/proc/self/fd"))

    first = once(target / "1")
    assert once(target / "2") <= first  # what an earlier test has left may be closed meanwhile


@pytest.mark.slow(3)
def test_a_server_that_is_killed_and_comes_back(
    s3: S3Server, store: S3Client, bucket: str, bytes_of: Callable[[int], bytes], target: Path
) -> None:
    data = {f"k{n}": bytes_of((4 << 20) + n) for n in range(6)}
    for key, each in data.items():
        s3.put(bucket, key, each)
    restarting = threading.Timer(1, s3.restart)

    def wanted() -> Iterator[tuple[S3Object, str]]:
        for number, each in enumerate(listed):
            if number == 3:
                s3.kill()
                restarting.start()
            yield each, f"{target}/{each.key}"

    listed = list(store.list_objects(bucket, ""))
    download_all(store, wanted(), part=PART, threads=2)
    restarting.join()
    assert files(target) == data
