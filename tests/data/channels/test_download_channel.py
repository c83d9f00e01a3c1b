"""Objects of two real S3 servers on disk: as the service lays them out, downloaded once, and never half."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Protocol

import pytest
from tests.kit.reasons import assert_reason
from tests.kit.s3_servers import ON_MOTO, S3Server

from smlocal.data.channels.cache.folder import Cache
from smlocal.data.channels.copy import StagedChannel
from smlocal.data.channels.download_channel import download_channel
from smlocal.data.sources.progress import Progress
from smlocal.data.sources.s3.client import S3Client, open_store
from smlocal.errors import StagingError
from smlocal.terms.channels import Staging
from smlocal.terms.listing import Listing
from smlocal.terms.rights import EVERYTHING

MIB = 1 << 20
ROOT = Path(__file__).parents[3]
ODD = (
    *(
        "a b",
        "a+b",
        "100%",
        "%41",
        "ü/ñ/日本",
        'quo"te',
        "apos'trophe",
        "amp&lt<>",
        "star*?[x]",
        "back\\slash",
        "~",
        "#1",
    ),
    *(".hidden", "..dots", "semi;colon", "=", "dollar$HOME", "comma,colon:", "{brace}", "|", "^", "`"),
)
DATA = {"plain": b"plain", "sub/deep/er": b"deep", "empty": b"", "sub/empty": b"", **{key: key.encode() for key in ODD}}


class StagingStoppedError(Exception):
    """The error that a stop during a download raises, from a signal handler."""


@dataclass(kw_only=True)
class Job:
    """A job that wants channels, in a home of its own."""

    home: Path
    stores: ExitStack = field(default_factory=ExitStack)
    told: list[Progress] = field(default_factory=list)
    warned: list[str] = field(default_factory=list)

    @property
    def cache(self) -> Cache:
        return Cache(home=str(self.home))

    def store(self) -> S3Client:
        """A new client; all are closed when the test is over."""
        return self.stores.enter_context(closing(open_store("eu-west-1", rights=EVERYTHING, retry_seconds=5)))

    def listed(self, bucket: str, prefix: str = "data/") -> Listing:
        """As the lister has it, sizes and ETags of the listing."""
        objects = list(self.store().list_objects(bucket, prefix))
        found = [each for each in objects if not each.key.endswith("/")]
        return Listing(
            root="",
            bucket_uri=f"s3://{bucket}/",
            prefix=prefix,
            key_base=prefix,
            paths=[each.key.removeprefix(prefix) for each in found],
            total_bytes=sum(each.size or 0 for each in found),
            whole_tree=False,
            directories=tuple(each.key.removeprefix(prefix)[:-1] for each in objects if each.key.endswith("/")),
            sizes=[each.size or 0 for each in found],
            etags=[each.etag or "" for each in found],
        )

    def download_channel(
        self, listing: Listing, *, cache: Cache | None = None, name: str = "job", cached: bool = True
    ) -> Path:
        folder = self.home / "jobs" / name
        folder.mkdir(parents=True, exist_ok=True)
        brought = download_channel(
            listing,
            store=self.store,
            endpoint="http://here",
            cache=(cache or self.cache) if cached else None,
            directory=f"{folder}/staged/s3",
            marker_directory=f"{folder}/staged/cache",
            progress=self.told.append,
            warn=self.warned.append,
        )
        assert brought.whole_tree
        assert not brought.remote
        assert len(set(brought.paths)) == len(brought.paths) == len(set(listing.paths))
        return Path(brought.root)

    def left(self) -> list[str]:
        """Every file below the home that is neither finished content nor in a finished tree."""
        kept = {self.home / "cache" / name for name in ("blobs", "trees")}
        found = [path for path in self.home.rglob("*") if path.is_file() and path.name != "lock"]
        return [str(path) for path in found if not kept & {*path.parents}]


def files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.fixture
def job(tmp_path: Path, s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Job]:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in s3.environment.items():
        monkeypatch.setenv(name, value)
    job = Job(home=tmp_path / "home")
    with job.stores:
        yield job


@pytest.fixture
def bucket(s3: S3Server) -> str:
    return s3.make_bucket()


@pytest.fixture
def stopped(s3: S3Server) -> Iterator[Callable[[], None]]:
    """Stops the server for the rest of the test."""
    yield s3.kill
    s3.restart()


def seed(s3: S3Server, bucket: str, data: dict[str, bytes], prefix: str = "data/") -> None:
    for key, content in data.items():
        s3.put(bucket, f"{prefix}{key}", content)


@pytest.mark.parametrize("cached", [True, False])
def test_objects_lie_as_on_the_service(job: Job, s3: S3Server, bucket: str, cached: bool) -> None:
    data = {**DATA, "large": os.urandom(40 * MIB)}
    seed(s3, bucket, data)
    root = job.download_channel(job.listed(bucket), cached=cached)
    assert files(root) == data
    for path in (root, *root.rglob("*")):
        assert stat.S_IMODE(path.lstat().st_mode) == (0o755 if path.is_dir() else 0o644)
    last = job.told[-1]
    size = sum(map(len, data.values()))
    assert (last.bytes, last.total_bytes, last.objects, last.total_objects) == (size, size, len(data), len(data))
    assert job.warned == []
    assert [path for path in job.left() if "/staged/" not in path] == []


@ON_MOTO  # rclone's folder markers vanish
@pytest.mark.parametrize("cached", [True, False])
def test_a_folder_marker_is_a_folder(job: Job, s3: S3Server, bucket: str, cached: bool) -> None:
    seed(s3, bucket, {"a/": b"", "b/c/": b"", "b/x": b"x"})
    root = job.download_channel(job.listed(bucket), cached=cached)
    assert sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_dir()) == ["a", "b", "b/c"]
    assert files(root) == {"b/x": b"x"}


@pytest.mark.parametrize("cached", [True, False])
def test_the_second_time_nothing_is_downloaded(
    job: Job, s3: S3Server, bucket: str, stopped: Callable[[], None], cached: bool
) -> None:
    seed(s3, bucket, DATA)
    listing = job.listed(bucket)
    root = job.download_channel(listing, cached=cached)
    stopped()
    # Another job through the cache; without it, another host of the same job.
    assert job.download_channel(listing, name="next" if cached else "job", cached=cached) == root
    assert files(root) == DATA


def test_of_changed_data_only_what_is_new_is_downloaded(job: Job, s3: S3Server, bucket: str) -> None:
    seed(s3, bucket, {"same": b"same", "old": b"old"})
    first = job.download_channel(job.listed(bucket))
    seed(s3, bucket, {"old": b"new", "more": b"more"})
    second = job.download_channel(job.listed(bucket), name="next")
    assert files(first) == {"same": b"same", "old": b"old"}
    assert files(second) == {"same": b"same", "old": b"new", "more": b"more"}
    assert (first / "same").samefile(second / "same")


def test_sizes_and_etags_that_nobody_knows_are_asked_for(job: Job, s3: S3Server, bucket: str) -> None:
    seed(s3, bucket, DATA)
    listing = replace(job.listed(bucket), sizes=(), etags=(), total_bytes=None)
    root = job.download_channel(listing)
    assert files(root) == DATA
    assert job.download_channel(listing, name="next") == root
    assert files(job.download_channel(listing, cached=False)) == DATA


def test_what_a_manifest_names_many_times_lies_there_once(job: Job, s3: S3Server, bucket: str) -> None:
    seed(s3, bucket, {"x": b"x", "y": b"yy"})
    listing = replace(
        job.listed(bucket),
        paths=["y", "x"] * 1000,
        sizes=[2, 1] * 1000,
        etags=["", ""] * 1000,
        total_bytes=3000,
    )
    listing = replace(listing, sizes=(), etags=())
    assert files(job.download_channel(listing)) == {"x": b"x", "y": b"yy"}
    assert job.told[-1].total_objects == 2


@pytest.mark.parametrize("etags", [True, False])
@pytest.mark.parametrize("cached", [True, False])
def test_an_object_that_is_gone_fails_the_download(
    job: Job, s3: S3Server, bucket: str, cached: bool, etags: bool
) -> None:
    seed(s3, bucket, DATA)
    listing = job.listed(bucket)
    s3.client().delete_object(Bucket=bucket, Key="data/plain")
    with pytest.raises(StagingError) as caught:
        job.download_channel(
            listing if etags else replace(listing, sizes=(), etags=(), total_bytes=None), cached=cached
        )
    assert caught.value.sentence.startswith(
        f"Data download failed:Unable to download object s3://{bucket}/data/plain (NoSuchKey: "
    )
    assert job.left() == []


@pytest.mark.parametrize("cached", [True, False])
def test_an_object_that_changed_since_is_not_taken_for_the_listed_one(
    job: Job, s3: S3Server, bucket: str, cached: bool
) -> None:
    seed(s3, bucket, DATA)
    listing = job.listed(bucket)
    seed(s3, bucket, {"plain": b"other"})
    with pytest.raises(StagingError) as caught:
        job.download_channel(listing, cached=cached)
    assert_reason("s3-object-changed", f"ClientError: {caught.value.sentence}")
    assert job.left() == []


def test_access_denied(job: Job, s3: S3Server, bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seed(s3, bucket, {"x": b"x"})
    listing = job.listed(bucket)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    with pytest.raises(StagingError) as caught:
        job.download_channel(listing)
    assert_reason("s3-object-denied", f"ClientError: {caught.value.sentence}")
    assert f" s3://{bucket}/data/x (SignatureDoesNotMatch: " in caught.value.sentence
    assert job.left() == []


def test_data_larger_than_the_limit_goes_into_the_jobs_own_folder(job: Job, s3: S3Server, bucket: str) -> None:
    seed(s3, bucket, {"x": b"x" * 2000})
    root = job.download_channel(job.listed(bucket), cache=replace(job.cache, limit=1000))
    assert files(root) == {"x": b"x" * 2000}
    assert "/jobs/job/staged/s3/" in str(root)
    assert job.warned == ["the download cache is not used: the data is larger than the cache limit"]


def test_a_cache_that_cannot_be_used_is_said_and_does_without(job: Job, s3: S3Server, bucket: str) -> None:
    seed(s3, bucket, {"x": b"x"})
    job.home.mkdir()
    (job.home / "cache").write_bytes(b"")
    root = job.download_channel(job.listed(bucket))
    assert files(root) == {"x": b"x"}
    assert len(job.warned) == 1
    assert job.warned[0].startswith("the download cache is not used: ")


def has_begun(home: Path) -> bool:
    """Whether some of an object lies there."""
    for folder, _, names in os.walk(home):
        for name in names:
            with suppress(FileNotFoundError):
                if os.stat(os.path.join(folder, name)).st_size >= MIB:
                    return True
    return False


@pytest.mark.slow(3, others=True)
@pytest.mark.parametrize("cached", [True, False])
def test_a_stop_breaks_a_download_off_at_once(job: Job, s3: S3Server, bucket: str, cached: bool) -> None:
    seed(s3, bucket, {f"{number}": os.urandom(32 * MIB) for number in range(4)})
    listing = job.listed(bucket)

    def stop(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise StagingStoppedError

    before = signal.signal(signal.SIGUSR2, stop)
    main = threading.main_thread().ident
    assert main is not None

    def stop_main() -> None:
        while not has_begun(job.home):
            time.sleep(0.001)
        signal.pthread_kill(main, signal.SIGUSR2)

    # Reports are too few: a fast machine has everything before the first of them.
    stopping = threading.Thread(target=stop_main)
    try:
        stopping.start()
        with pytest.raises(StagingStoppedError):
            job.download_channel(listing, cached=cached)
    finally:
        stopping.join()
        signal.signal(signal.SIGUSR2, before)
    assert job.left() == []
    root = job.download_channel(listing, cached=cached)
    assert {path: len(data) for path, data in files(root).items()} == {f"{number}": 32 * MIB for number in range(4)}


class Host(Protocol):
    def stage(self, listing: Listing, staging: Staging = "overlay", name: str = "train") -> StagedChannel: ...

    def run(self, staged: StagedChannel, script: str) -> str: ...


@pytest.mark.parametrize("staging", ["overlay", "copy"])
def test_a_container_may_write_and_the_next_one_finds_the_data_as_it_is_in_s3(
    job: Job, s3: S3Server, bucket: str, host: Host, staging: Staging
) -> None:
    seed(s3, bucket, {"a/x": b"x", "y": b"y", "empty": b""})
    listing = job.listed(bucket)
    for number in range(2):
        root = job.download_channel(listing, name=f"job-{number}")
        brought = replace(listing, root=str(root), whole_tree=True)
        staged = host.stage(brought, staging, name=f"train-{number}")
        assert host.run(staged, "cat a/x y empty; echo more >> a/x; rm y; mkdir -p b; find . | sort") == (
            "xy.\n./a\n./a/x\n./b\n./empty\n"
        )
    assert files(root) == {"a/x": b"x", "y": b"y", "empty": b""}


IN_PROCESS = """
import json, sys
from pathlib import Path
from dataclasses import replace
from smlocal.errors import StagingError
from tests.data.channels.test_download_channel import Job
home, bucket, cached = Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "True"
job = Job(home=home)
listing = job.listed(bucket)
print("listed", flush=True)
try:
    root = job.download_channel(listing, cached=cached)
    print(root, sum(path.stat().st_size for path in root.rglob("*") if path.is_file()))
except StagingError as error:
    print(error.sentence)
    print(error.details)
print(job.warned)
print(job.left())
"""
PRIVATE = ("unshare", "--mount", "--propagation", "private")


@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="mounting needs root")
def test_a_full_disk_fails_as_on_the_service(job: Job, s3: S3Server, bucket: str, cached: bool) -> None:
    seed(s3, bucket, {"x": b"x" * MIB, "large": b"y" * 9 * MIB})
    job.home.mkdir()
    said = run_mounted(job.home, job.home, bucket, cached)
    assert said[1] == "Data download failed:Insufficient disk space"
    assert "10 MiB to be downloaded, " in said[2]  # nothing was: the size is known
    assert said[3:] == [
        "['the download cache is not used: too little of its disk is free']" if cached else "[]",
        "[]",
    ]


@pytest.mark.slow(1)
@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="mounting needs root")
def test_where_only_the_disk_of_the_cache_is_full_the_job_does_without(job: Job, s3: S3Server, bucket: str) -> None:
    seed(s3, bucket, {"x": b"x" * MIB, "large": b"y" * 9 * MIB})
    (job.home / "cache").mkdir(parents=True)
    said = run_mounted(job.home / "cache", job.home, bucket, cached=True)
    assert said[1].endswith(f" {10 * MIB}")
    assert "/jobs/job/staged/s3/" in said[1]
    assert said[2].startswith("['the download cache is not used: ")


def run_mounted(place: Path, home: Path, bucket: str, cached: bool) -> list[str]:
    mounted = 'mount -t tmpfs -o size=6m none "$1" && shift && exec "$@"'
    done = subprocess.run(
        [*PRIVATE, "sh", "-c", mounted, "sh", place, sys.executable, "-c", IN_PROCESS, home, bucket, str(cached)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def killed_in_the_middle(job: Job, bucket: str) -> bool:
    process = subprocess.Popen(
        [sys.executable, "-c", IN_PROCESS, job.home, bucket, "True"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "listed\n"
    while process.poll() is None and not list((job.home / "cache").glob("partial/*/new/*")):
        pass
    process.kill()
    process.wait()
    process.stdout.close()
    return os.listdir(job.cache.partial) != []


@pytest.mark.slow(3)
def test_a_process_killed_in_the_middle_leaves_nothing_in_the_way(job: Job, s3: S3Server, bucket: str) -> None:
    seed(s3, bucket, {f"{number}": os.urandom(32 * MIB) for number in range(4)})
    places = iter(range(20))
    while not killed_in_the_middle(job, bucket):  # on a busy machine it may be over before we have seen that it began
        job.home = job.home.with_name(f"home-{next(places)}")
    root = job.download_channel(job.listed(bucket))
    assert {path: len(data) for path, data in files(root).items()} == {f"{number}": 32 * MIB for number in range(4)}
    assert job.left() == [str(job.home / "jobs" / "job" / "staged" / "cache" / root.parent.name)]


MILLION = """
import re, sys
from dataclasses import replace
from pathlib import Path
from tests.data.channels.test_download_channel import Job
def peak():
    # Not ru_maxrss, which begins with what the parent of the process had.
    return int(re.search(r"VmHWM:\\s+([0-9]+)", Path("/proc/self/status").read_text())[1])
job = Job(home=Path(sys.argv[1]))
listing = job.listed(sys.argv[2])
before = peak()
paths = list(listing.paths)
listing = replace(listing, paths=paths * (1_000_000 // len(paths)), sizes=(), etags=(), total_bytes=None)
root = job.download_channel(listing)
print(len(listing.paths), len(list(root.iterdir())), peak() - before)
"""


def test_a_million_entries_of_few_objects_cost_little_memory(job: Job, s3: S3Server, bucket: str) -> None:
    seed(s3, bucket, {f"{number}": b"x" for number in range(10)})
    done = subprocess.run(
        [sys.executable, "-c", MILLION, job.home, bucket], capture_output=True, text=True, check=True, cwd=ROOT
    )
    entries, objects, kilobytes = map(int, done.stdout.split())
    assert (entries, objects) == (1_000_000, 10)
    assert kilobytes < 60_000  # of which 8,000 are the listing itself
