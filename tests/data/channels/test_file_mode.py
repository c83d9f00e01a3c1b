"""A container writes, deletes and renames in its channel, and the user's files stay as they were."""

import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import pytest

from smlocal.data.channels.copy import StagedChannel, is_overlay_refusal
from smlocal.engine.docker import DockerEngine
from smlocal.engine.interface import ResourceKind
from smlocal.errors import EngineError
from smlocal.jobs.planning.aspects.inputs.plan import choose_staging
from smlocal.terms.channels import Means, Staging
from smlocal.terms.listing import Listing

Lister = Callable[..., Listing]
Digest = Callable[[Path], Mapping[str, object]]

HAVOC = """
echo new > new
echo more >> a/one
rm two
mv a/deep moved
mkdir -p made/deep && echo x > made/deep/x
chmod 777 a/one
chown 1000:1000 a
rm -r gone
find . | sort
"""
AFTER = ["./a", "./a/one", "./made", "./made/deep", "./made/deep/x", "./moved", "./moved/three", "./new"]


class Host(Protocol):
    engine: DockerEngine
    job: str
    directory: Path

    def stage(
        self, listing: Listing, staging: Staging = "overlay", name: str = "train", *, rootless: bool | None = None
    ) -> StagedChannel: ...

    def run(self, staged: StagedChannel, script: str) -> str: ...


def make_tree(folder: Path) -> Path:
    for name in ("a/one", "a/deep/three", "two", "gone/four"):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name, encoding="utf-8")
    return folder


@pytest.mark.parametrize("staging", ["overlay", "copy"])
def test_havoc_in_the_channel_stays_there(
    host: Host, listing_of: Lister, digest: Digest, tmp_path: Path, staging: Staging
) -> None:
    data = make_tree(tmp_path / "data")
    before = digest(data)
    staged = host.stage(listing_of("data"), staging)
    assert (staged.means is Means.OVERLAY) is (staging == "overlay")
    assert staged.bytes_copied == (
        0 if staging == "overlay" else sum(f.stat().st_size for f in data.rglob("*") if f.is_file())
    )
    assert host.run(staged, HAVOC).split()[1:] == AFTER
    assert digest(data) == before


def test_the_marks_of_an_engine_without_root_do_as_well(
    host: Host, listing_of: Lister, digest: Digest, tmp_path: Path
) -> None:
    data = make_tree(tmp_path / "data")
    before = digest(data)
    assert host.run(host.stage(listing_of("data"), rootless=True), HAVOC).split()[1:] == AFTER
    assert digest(data) == before


@pytest.mark.parametrize("staging", ["overlay", "copy"])
def test_the_channel_root_is_as_on_the_service(
    host: Host, listing_of: Lister, tmp_path: Path, staging: Staging
) -> None:
    make_tree(tmp_path / "data").chmod(0o700)
    roots = staging == "overlay" or os.geteuid() == 0 or host.engine.facts().rootless
    owner = "0:0" if roots else f"{os.geteuid()}:{os.getegid()}"
    assert host.run(host.stage(listing_of("data"), staging), "stat -c %u:%g:%a .").strip() == f"{owner}:755"


def test_two_hosts_share_the_data_and_not_the_changes(host: Host, listing_of: Lister, tmp_path: Path) -> None:
    make_tree(tmp_path / "data")
    listing = listing_of("data")
    first, second = host.stage(listing, name="one"), host.stage(listing, name="two")
    host.run(first, "rm two; echo 1 > new")
    assert host.run(second, "cat two; echo; ls").split() == ["two", "a", "gone", "two"]


@pytest.mark.parametrize(
    "name",
    [
        "co:lon",
        "::",
        "com,ma",
        ",upperdir=x",
        "back\\slash",
        "back\\\\two",
        "\\:,",
        "trailing\\",
        "sp ace",
        " lead and trail ",
        "single'quote",
        'double"quote',
        "new\nline",
        "tab\tbed",
        "é漢\U0001f600",
        "$HOME `id` $(id)",
        "per%20cent%",
        "star*?[a]",
        "#hash;semi&amp",
        "-dash",
        "=equals=",
        "d" * 255,
    ],
)
@pytest.mark.parametrize("whole", [True, False])
def test_odd_folder_names(host: Host, listing_of: Lister, tmp_path: Path, name: str, whole: bool) -> None:
    folder = tmp_path / name
    folder.mkdir()
    (folder / "x").write_text("inside", encoding="utf-8")
    (folder / "beside").touch()
    listing = listing_of("./" + name if whole else f"./{name}/x")
    host = replace(host, directory=tmp_path / "staged" / name)  # type: ignore[type-var]  # a dataclass behind its protocol
    staged = host.stage(listing)
    assert host.run(staged, "cat x; echo changed > x").strip() == "inside"
    assert (folder / "x").read_text(encoding="utf-8") == "inside"


@pytest.mark.parametrize("uri", ["", "/x"])
def test_a_folder_whose_name_is_not_utf8_is_copied(host: Host, listing_of: Lister, tmp_path: Path, uri: str) -> None:
    folder = tmp_path / os.fsdecode(b"not-utf8-\xff")
    folder.mkdir()
    (folder / "x").write_text("inside", encoding="utf-8")
    listing = listing_of(f"./{folder.name}{uri}")
    staging, _ = choose_staging(listing, None)
    assert staging == ("overlay" if uri else "copy")
    assert host.run(host.stage(listing, staging), "cat x; echo changed > x").strip() == "inside"
    assert (folder / "x").read_text(encoding="utf-8") == "inside"


def test_odd_file_names_arrive_as_they_are(host: Host, listing_of: Lister, tmp_path: Path) -> None:
    names = ["new\nline", os.fsdecode(b"\xff"), "é", "back\\slash", ".hidden", "-dash"]
    (tmp_path / "data").mkdir()
    for name in names:
        (tmp_path / "data" / name).touch()
    listing = listing_of("data")
    for staging in ("overlay", "copy"):
        seen = host.run(host.stage(listing, staging, name=staging), r"find . -type f -exec printf '%s\0' {} \;")
        assert sorted(seen.split("\0")[:-1]) == sorted(f"./{name}" for name in names)


@pytest.mark.parametrize("staging", ["overlay", "copy"])
def test_a_single_file_comes_alone_and_the_original_is_safe(
    host: Host, listing_of: Lister, digest: Digest, tmp_path: Path, staging: Staging
) -> None:
    data = make_tree(tmp_path / "data")
    before = digest(data)
    staged = host.stage(listing_of("data/a/one"), staging)
    assert (
        host.run(staged, "ls; cat one; echo >> one; chmod 777 one; chown 5 one; truncate -s 0 one; rm one")
        == "one\na/one"
    )
    assert digest(data) == before
    assert (data / "a" / "one").stat().st_size == len("a/one")


@pytest.mark.parametrize("staging", ["overlay", "copy"])
def test_a_partial_prefix_brings_what_it_matches(
    host: Host, listing_of: Lister, digest: Digest, tmp_path: Path, staging: Staging
) -> None:
    data = tmp_path / "data"
    for name in ("train-01/x", "train.csv", "val/y"):
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_text(name, encoding="utf-8")
    before = digest(data)
    staged = host.stage(listing_of("s3://b/k/train", {"s3://b/k": "data"}), staging)
    said = host.run(staged, "find . -type f | sort; for f in $(find . -type f); do echo no > $f; done; rm -r train-01")
    assert said.split() == ["./train-01/x", "./train.csv"]
    assert digest(data) == before


def test_no_objects_for_a_host_leave_an_empty_folder(host: Host, listing_of: Lister, tmp_path: Path) -> None:
    make_tree(tmp_path / "data")
    nothing = replace(listing_of("data"), paths=(), whole_tree=False)
    assert host.run(host.stage(nothing), "ls -A; echo works > x") == ""
    assert host.run(host.stage(nothing, "copy", name="copy"), "ls -A; echo works > x") == ""


def test_links_inside_work_in_the_container(host: Host, listing_of: Lister, tmp_path: Path) -> None:
    data = make_tree(tmp_path / "data")
    (data / "to-a").symlink_to("a")
    (data / "a" / "deep" / "up").symlink_to("../../two")
    (data / "nested").symlink_to("to-a/deep/up")
    listing = listing_of("data")
    assert choose_staging(listing, None) == ("overlay", None)
    assert host.run(host.stage(listing), "cat nested to-a/one") == "twoa/one"


@pytest.mark.parametrize("absolute", [True, False])
def test_links_that_lead_out_are_copied_as_files(
    host: Host,
    listing_of: Lister,
    digest: Digest,
    tmp_path: Path,
    absolute: bool,
) -> None:
    data, outside = make_tree(tmp_path / "data"), make_tree(tmp_path / "outside")
    base = str(outside) if absolute else "../outside"
    (data / "file").symlink_to(f"{base}/two")
    (data / "folder").symlink_to(f"{base}/a")
    before = digest(outside)
    listing = listing_of("data")
    staging, reason = choose_staging(listing, None)
    assert staging == "copy"
    assert reason is not None
    staged = host.stage(listing, staging)
    said = host.run(staged, "cat file folder/one; test ! -L file; test ! -L folder; echo no > file; rm -r folder")
    assert said == "twoa/one"
    assert digest(outside) == before


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="needs a tmpfs")
@pytest.mark.parametrize("below", ["", "a/one"])
def test_data_in_memory(host: Host, listing_of: Lister, digest: Digest, below: str) -> None:
    data = make_tree(Path("/dev/shm", host.job))
    try:
        before = digest(data)
        staged = host.stage(listing_of(f"{data}/{below}"))
        assert staged.bytes_copied == (len("a/one") if below else 0)
        host.run(staged, "find . -type f -exec sh -c 'echo no > $0' {} \\;")
        assert digest(data) == before
    finally:
        shutil.rmtree(data)


def test_a_place_that_no_overlay_can_show_is_recognised_and_copied(
    host: Host, listing_of: Lister, deep_overlay: Path
) -> None:
    make_tree(deep_overlay)
    listing = listing_of(str(deep_overlay))
    staged = host.stage(listing)
    with pytest.raises(EngineError) as caught:
        host.run(staged, "ls")
    assert is_overlay_refusal(caught.value)
    for _ in range(2):  # what was copied already is staged again when another channel's overlay is refused
        assert host.run(host.stage(listing, "copy"), "cat two; rm two") == "two"


@pytest.fixture
def deep_overlay(tmp_path: Path) -> Iterator[Path]:
    """An overlay on an overlay: the kernel stacks no third."""
    if os.geteuid() != 0:
        pytest.skip("mounting needs root")
    lower = tmp_path / "lower"
    lower.mkdir()
    mounted: list[Path] = []
    try:
        for depth in ("one", "two"):
            parts = {part: tmp_path / f"{depth}-{part}" for part in ("upper", "work", "merged")}
            for part in parts.values():
                part.mkdir()
            options = f"lowerdir={lower},upperdir={parts['upper']},workdir={parts['work']}"
            subprocess.run(["mount", "-t", "overlay", "overlay", "-o", options, parts["merged"]], check=True)
            lower = parts["merged"]
            mounted.append(lower)
        yield lower
    finally:
        for place in reversed(mounted):
            subprocess.run(["umount", place], check=True)


def test_removing_the_volumes_leaves_nothing(
    host: Host, listing_of: Lister, tmp_path: Path, docker: Callable[..., str]
) -> None:
    make_tree(tmp_path / "data")
    before = set(Path(docker("info", "--format", "{{.DockerRootDir}}").strip(), "volumes").iterdir())
    staged = host.stage(listing_of("data"))
    partial = host.stage(listing_of("data/two"), name="partial")
    host.run(staged, HAVOC)
    host.run(partial, "echo no > two")
    volumes = [resource for resource in host.engine.owned(host.job) if resource.kind is ResourceKind.VOLUME]
    assert len(volumes) == 6
    for volume in volumes:
        host.engine.remove(volume)
    left = [
        path
        for path in Path(docker("info", "--format", "{{.DockerRootDir}}").strip(), "volumes").iterdir()
        if path not in before and host.job in path.name
    ]
    assert left == []
    assert host.job not in Path("/proc/mounts").read_text(encoding="utf-8")
    # The rest is in the user's own folder and belongs to the user.
    for path in host.directory.rglob("*"):
        status = path.lstat()
        assert status.st_uid == os.geteuid()
        assert not stat.S_ISDIR(status.st_mode) or os.access(path, os.W_OK)
