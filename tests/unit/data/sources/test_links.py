"""Links are followed as an upload would; those that cannot come along are a reason to copy."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from smlocal.data.sources.local_path import copy_reasons
from smlocal.errors import SourceUnreadableError
from smlocal.terms.listing import Listing

Lister = Callable[..., Listing]
Filler = Callable[..., Path]


def test_links_inside_are_objects_and_folders_and_need_no_copy(fill: Filler, listing_of: Lister) -> None:
    folder = fill("real/x", "real/deep/y")
    (folder / "again").symlink_to("real")
    (folder / "file").symlink_to("real/x")
    (folder / "real" / "deep" / "up").symlink_to("../x")
    (folder / "chain").symlink_to("again/deep/up")
    listing = listing_of("data")
    assert listing.paths == (
        "again/deep/up",
        "again/deep/y",
        "again/x",
        "chain",
        "file",
        "real/deep/up",
        "real/deep/y",
        "real/x",
    )
    assert (listing.copy_reasons, listing.skipped, listing.whole_tree) == ((), (), True)
    assert all(Path(listing.root, path).is_file() for path in listing.paths)


def test_a_link_to_a_folder_it_lies_in_is_not_followed_for_ever(fill: Filler, listing_of: Lister) -> None:
    folder = fill("a/x", "b/y")
    (folder / "a" / "self").symlink_to(".")
    (folder / "a" / "up").symlink_to("..")
    (folder / "a" / "to-b").symlink_to("../b")
    (folder / "b" / "to-a").symlink_to("../a")
    listing = listing_of("data")
    assert listing.paths == ("a/to-b/y", "a/x", "b/to-a/x", "b/y")
    assert "a/self is a link to a folder that contains it" in listing.skipped
    assert "a/to-b/to-a is a link to a folder that contains it" in listing.skipped
    assert set(listing.copy_reasons[:5]) <= set(listing.skipped)  # shown in place, the links would be seen


def test_what_is_left_out_is_a_reason_to_copy(fill: Filler, listing_of: Lister) -> None:
    folder = fill("x")
    os.mkfifo(folder / "fifo")
    (folder / "dangling").symlink_to("gone")
    assert listing_of("data").copy_reasons == ("dangling is a broken link", "fifo is a FIFO")


@pytest.mark.slow(0.5)
def test_links_that_multiply_are_refused(fill: Filler, listing_of: Lister) -> None:
    folder = fill(*(f"d{number}/x" for number in range(22)))
    for number in range(21):
        for name in ("left", "right"):
            (folder / f"d{number}" / name).symlink_to(f"../d{number + 1}")
    with pytest.raises(SourceUnreadableError, match="its links lead to the same folders more than 10,000 times"):
        listing_of("data")


@pytest.mark.slow
def test_many_links_to_as_many_folders_are_fine(fill: Filler, listing_of: Lister, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    folder = fill()
    for number in range(10_100):
        (tmp_path / "real" / str(number)).mkdir()
        (folder / str(number)).symlink_to(f"../real/{number}")
    fill("x")
    listing = listing_of("data")
    assert listing.paths == ("x",)
    assert len(listing.directories) == 10_100


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("{}/outside/x", "a/link is a link to the absolute path {}/outside/x"),
        ("{}/data/a/inside", "a/link is a link to the absolute path {}/data/a/inside"),
        ("../../outside/x", "a/link is a link out of the folder, to ../../outside/x"),
        ("../../data/a/inside", "a/link is a link out of the folder, to ../../data/a/inside"),
        ("inside/../../../outside/gone", "a/link is a link out of the folder, to inside/../../../outside/gone"),
        ("to-deep/../../../../outside/x", "a/link is a link out of the folder, to to-deep/../../../../outside/x"),
    ],
)
def test_a_link_that_leads_out_is_a_reason_to_copy(
    fill: Filler, listing_of: Lister, tmp_path: Path, target: str, words: str
) -> None:
    fill("x", below="outside")
    folder = fill("a/inside", "a/deep/deeper/x")
    (folder / "a" / "to-deep").symlink_to("deep/deeper")
    (folder / "a" / "link").symlink_to(target.format(tmp_path))
    assert listing_of("data").copy_reasons[0] == words.format(tmp_path)


def test_a_step_up_behind_a_link_counts_from_where_the_link_leads(fill: Filler, listing_of: Lister) -> None:
    folder = fill("a/deep/deeper/x", "a/deep/y")
    (folder / "to-deep").symlink_to("a/deep/deeper")
    (folder / "link").symlink_to("to-deep/../y")
    listing = listing_of("data")
    assert "link" in listing.paths
    assert listing.copy_reasons == ()


def test_a_folder_outside_is_one_reason_however_much_lies_there(fill: Filler, listing_of: Lister) -> None:
    (fill("x", "y", below="outside") / "inner").symlink_to("x")
    (fill("z") / "far").symlink_to("../outside")
    listing = listing_of("data")
    assert listing.paths == ("far/inner", "far/x", "far/y", "z")
    assert listing.copy_reasons == ("far is a link out of the folder, to ../outside",)


def test_many_reasons_are_counted(fill: Filler, listing_of: Lister, tmp_path: Path) -> None:
    folder = fill("x")
    for number in range(9):
        (folder / f"l{number}").symlink_to(tmp_path / "data" / "x")
    reasons = listing_of("data").copy_reasons
    assert len(reasons) == 6
    assert reasons[-1] == "4 more"


def test_a_selection_is_gathered_as_files_so_links_do_not_matter(fill: Filler, listing_of: Lister) -> None:
    fill("x", below="outside")
    (fill("beside") / "train.csv").symlink_to("../outside/x")
    assert listing_of("data/train.csv").copy_reasons == ()
    assert listing_of("s3://b/train", {"s3://b": "data"}).copy_reasons == ()


@pytest.mark.linux("mount points have a table")
def test_mounts_inside_are_reasons() -> None:
    assert any(reason.endswith("is a mount point") for reason in copy_reasons("/", []))


@pytest.mark.slow(0.5)
@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="mounting needs root")
@pytest.mark.parametrize("name", ["plain", "a b", "t\tab", "new\nline", "back\\slash", "back\\040slash", "ha#sh", "é"])
@pytest.mark.linux("mount points have a table")
def test_a_bind_mount_of_the_same_disk_is_noticed_whatever_its_name(fill: Filler, tmp_path: Path, name: str) -> None:
    fill("x", below="elsewhere")
    folder = fill(f"sub/{name}/x")
    script = (
        "import sys; from smlocal.data.sources import local_path as l; print(ascii(l.copy_reasons(sys.argv[1], [])))"
    )
    private = ("unshare", "--mount", "--propagation", "private")
    mounted = ("sh", "-c", 'mount --bind "$1" "$2" && shift 2 && exec "$@"', "sh")
    command = (sys.executable, "-c", script, folder)
    done = subprocess.run(
        [*private, *mounted, tmp_path / "elsewhere", folder / "sub" / name, *command],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == ascii((f"sub/{name} is a mount point",))
