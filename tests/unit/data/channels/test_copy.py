"""Copies are independent files of the service's modes; links to the user's files exist only below an overlay."""

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from smlocal.data.channels.copy import copy_tree, link_tree
from smlocal.data.sources.local_listing import list_source
from smlocal.errors import StagingError
from smlocal.terms.channels import Means
from smlocal.terms.listing import Listing

Lister = Callable[[Path], Listing]
PRIVATE = ("unshare", "--mount", "--propagation", "private")


@pytest.fixture(params=[0o000, 0o022, 0o077])
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


@pytest.mark.usefixtures("umask")
def test_a_copy_has_the_same_bytes_in_the_modes_of_the_service(data: Path, listing_of: Lister, tmp_path: Path) -> None:
    listing = listing_of(data)
    target = tmp_path / "copy"
    means, copied = copy_tree(listing, str(target))
    assert contents(target) == {path: (data / path).read_bytes() for path in listing.paths}
    assert len(listing.paths) == 7
    if means is Means.COPY:
        assert copied == sum((data / path).stat().st_size for path in listing.paths)
    else:
        assert copied == 0
    for path in (target, *target.rglob("*")):
        status = path.lstat()
        assert not stat.S_ISLNK(status.st_mode)
        assert stat.S_IMODE(status.st_mode) == (0o755 if path.is_dir() else 0o644)
        assert path.is_dir() or status.st_nlink == 1


def test_a_copy_can_be_changed_without_changing_the_original(data: Path, listing_of: Lister, tmp_path: Path) -> None:
    before = contents(data)
    copy_tree(listing_of(data), str(tmp_path / "copy"))
    for file in (tmp_path / "copy").rglob("*"):
        if file.is_file():
            file.write_bytes(b"changed")
    assert contents(data) == before


def test_gathering_links_and_moves_nothing(data: Path, listing_of: Lister, tmp_path: Path) -> None:
    listing = replace(listing_of(data), paths=("a/b/deep", "link", "private"), whole_tree=False)
    target = tmp_path / "lower"
    assert link_tree(listing, str(target)) == 0
    assert contents(target) == {"a/b/deep": b"deep", "link": b"deep", "private": b"private"}
    assert (target / "private").samefile(data / "private")
    assert (target / "link").samefile(data / "a" / "b" / "deep")
    assert not (target / "link").is_symlink()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a file of somebody else")
@pytest.mark.linux("a setting of the kernel")
def test_a_file_that_may_not_be_linked_to_is_copied() -> None:
    """Linux lets an ordinary user make hard links only to files that he may write."""
    protected = Path("/proc/sys/fs/protected_hardlinks").read_text(encoding="ascii").strip() == "1"
    with tempfile.TemporaryDirectory(prefix="smlocal-test-") as name:
        folder = Path(name)
        folder.chmod(0o777)
        (folder / "x").write_bytes(b"somebody's")
        listing = list_source(name + "/x", channel="c", directory="/", mapping={}, region="r", role="a")
        os.seteuid(65534)
        try:
            assert link_tree(listing, f"{name}/lower") == (10 if protected else 0)
        finally:
            os.seteuid(0)
        gathered = folder / "lower" / "x"
        assert gathered.read_bytes() == b"somebody's"
        assert gathered.samefile(folder / "x") is not protected


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="needs a second file system")
def test_gathering_across_file_systems_copies(data: Path, listing_of: Lister) -> None:
    target = Path("/dev/shm", f"smlocal-test-{os.getpid()}")
    try:
        listing = replace(listing_of(data), paths=("a/big", "empty"), whole_tree=False)
        assert link_tree(listing, str(target)) == 3_200_000
        assert (target / "a" / "big").read_bytes() == (data / "a" / "big").read_bytes()
        assert not (target / "a" / "big").samefile(data / "a" / "big")
    finally:
        shutil.rmtree(target)


@pytest.mark.parametrize("put", [copy_tree, link_tree])
def test_an_object_that_is_gone_fails_the_download(
    data: Path, listing_of: Lister, tmp_path: Path, put: Callable[[Listing, str], object]
) -> None:
    listing = listing_of(data)
    (data / "empty").unlink()
    with pytest.raises(StagingError) as caught:
        put(listing, str(tmp_path / "copy"))
    assert caught.value.sentence == (
        f"Data download failed:Unable to download object file://{data}/empty "
        "(NoSuchKey: The specified key does not exist.)"
    )
    assert caught.value.exit_code == 1


def test_a_file_that_has_become_a_fifo_hangs_nothing(data: Path, listing_of: Lister, tmp_path: Path) -> None:
    listing = listing_of(data)
    (data / "empty").unlink()
    os.mkfifo(data / "empty")
    with pytest.raises(StagingError, match=r"InternalError: is no longer a regular file"):
        copy_tree(listing, str(tmp_path / "copy"))


@pytest.mark.parametrize("name", ["copy_tree", "link_tree"])
@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="mounting needs root")
def test_a_full_disk_fails_as_on_the_service(data: Path, tmp_path: Path, name: str) -> None:
    script = f"""
import sys
from smlocal.data.channels.copy import {name}
from smlocal.errors import StagingError
from smlocal.data.sources.local_listing import list_source
listing = list_source(sys.argv[1], channel="c", directory="/", mapping={{}}, region="r", role="a")
try:
    {name}(listing, sys.argv[2] + "/copy")
except StagingError as error:
    print(error.sentence)
"""
    small = tmp_path / "small"
    small.mkdir()
    mounted = 'mount -t tmpfs -o size=1m none "$1" && shift && exec "$@"'
    done = subprocess.run(
        [*PRIVATE, "sh", "-c", mounted, "sh", small, sys.executable, "-c", script, data, small],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "Data download failed:Insufficient disk space\n"


@pytest.mark.parametrize("kind", ["btrfs", "xfs"])
@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="mounting needs root")
def test_a_file_system_that_can_shares_the_blocks(data: Path, tmp_path: Path, kind: str) -> None:
    if shutil.which(f"mkfs.{kind}") is None:
        pytest.skip(f"needs mkfs.{kind}")
    disk, place = tmp_path / "disk", tmp_path / "place"
    place.mkdir()
    with disk.open("wb") as file:
        file.truncate(400 << 20)
    subprocess.run([f"mkfs.{kind}", "-q", disk], check=True)
    script = """
import sys
from smlocal.data.channels.copy import copy_tree
from smlocal.data.sources.local_listing import list_source
listing = list_source(sys.argv[1] + "/data", channel="c", directory="/", mapping={}, region="r", role="a")
print(*copy_tree(listing, sys.argv[1] + "/copy"))
"""
    mounted = 'mount -o loop "$1" "$2" && cp -a "$3" "$2/data" && shift 3 && exec "$@"'
    done = subprocess.run(
        [*PRIVATE, "sh", "-c", mounted, "sh", disk, place, data, sys.executable, "-c", script, place],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "reflink 0\n"
