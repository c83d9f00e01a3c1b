"""Plain paths and file:// URIs: a folder is that folder, a file is that one object."""

import os
import socket
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path

import pytest

from smlocal.data.sources.local_listing import list_folder
from smlocal.data.sources.local_path import MAX_CHECKED
from smlocal.sagemaker.contract.documents.config_files import manifest
from smlocal.terms.listing import Listing

Lister = Callable[..., Listing]
Filler = Callable[..., Path]


@pytest.mark.parametrize(
    "spelling",
    [
        "data",
        "./data",
        "data/",
        "./x/../data",
        "{}/data",
        "file://{}/data/",
        "file://./data",
        "file://localhost{}/data",
    ],
)
def test_a_folder_is_meant_whole(fill: Filler, listing_of: Lister, tmp_path: Path, spelling: str) -> None:
    folder = fill("b.csv", "a/x", "a/y/z")
    fill("beside", below="database")
    fill("x", below="x")
    listing = listing_of(spelling.format(tmp_path))
    assert listing.paths == ("a/x", "a/y/z", "b.csv")
    assert listing.root == str(folder)
    assert listing.bucket_uri == "file:///"
    assert listing.prefix == listing.key_base == f"{folder}/"[1:]
    assert listing.whole_tree
    assert listing.copy_reasons == listing.skipped == listing.directories == ()
    assert listing.uri("a/x") == f"file://{folder}/a/x"


@pytest.mark.parametrize("spelling", ["data/b.csv", "file://{}/data/b.csv", "data/../data/b.csv"])
def test_a_file_is_one_object_named_by_its_last_component(
    fill: Filler, listing_of: Lister, tmp_path: Path, spelling: str
) -> None:
    folder = fill("b.csv", "b.csv.gz")
    listing = listing_of(spelling.format(tmp_path))
    assert listing.paths == ("b.csv",)
    assert listing.root == str(folder)
    assert listing.prefix == f"{folder}/b.csv"[1:]
    assert listing.total_bytes == len("b.csv")
    assert not listing.whole_tree
    assert listing.uri("b.csv") == f"file://{folder}/b.csv"


def test_a_dotted_path_keeps_the_name_of_a_link_at_its_end(fill: Filler, listing_of: Lister) -> None:
    (fill("blob-17") / "train.csv").symlink_to("blob-17")
    assert listing_of("data/../data/train.csv").paths == ("train.csv",)


def test_dots_behind_a_link_go_where_the_link_goes(fill: Filler, listing_of: Lister, tmp_path: Path) -> None:
    fill("deep/x", below="elsewhere")
    (tmp_path / "link").symlink_to("elsewhere/deep")
    assert listing_of("link/../deep").root == str(tmp_path / "elsewhere" / "deep")


def test_a_link_as_the_whole_source_is_the_folder_it_leads_to(fill: Filler, listing_of: Lister, tmp_path: Path) -> None:
    fill("x", below="elsewhere")
    (tmp_path / "link").symlink_to("elsewhere")
    listing = listing_of("link")
    assert (listing.root, listing.paths, listing.copy_reasons) == (str(tmp_path / "link"), ("x",), ())


def test_home_is_expanded_and_a_folder_called_so_needs_a_dot(
    fill: Filler, listing_of: Lister, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = fill("d/x", below="home")
    fill("d/y", below="~")
    monkeypatch.setenv("HOME", str(home))
    assert listing_of("~/d").root == str(home / "d")
    assert listing_of("./~/d").root == str(tmp_path / "~" / "d")


def test_order_is_that_of_whole_keys_in_utf8_bytes(fill: Filler, listing_of: Lister) -> None:
    names = ["a/b", "a-b", "a.b", "a0", "B", "é", "\ue000", "\U0001f600", "_10", "_2", "_1/x"]
    fill(*names)
    assert listing_of("data").paths == tuple(sorted(names, key=str.encode))
    assert listing_of("data").paths[:3] == ("B", "_1/x", "_10")


def test_names_that_are_not_utf8_work_and_sort_by_their_bytes(fill: Filler, listing_of: Lister) -> None:
    names = [os.fsdecode(name) for name in (b"\xff.csv", b"\x80/x", "\ue000".encode(), "\U0001f600".encode(), b"a")]
    fill(*names)
    listing = listing_of("data")
    assert [os.fsencode(path) for path in listing.paths] == sorted(map(os.fsencode, names))
    assert manifest(listing).count(b"\xff.csv\n") == 1


def test_empty_folders_are_no_objects_but_remembered(fill: Filler, listing_of: Lister) -> None:
    folder = fill("a/x")
    (folder / "e" / "f").mkdir(parents=True)
    listing = listing_of("data")
    assert listing.paths == ("a/x",)
    assert listing.directories == ("e/f",)


def test_what_an_upload_leaves_out_is_skipped_with_the_reason(fill: Filler, listing_of: Lister) -> None:
    folder = fill("x")
    os.mkfifo(folder / "fifo")
    (folder / "null").symlink_to("/dev/null")
    (folder / "dangling").symlink_to("gone")
    (folder / "self").symlink_to("self")
    with socket.socket(socket.AF_UNIX) as listener:
        with chdir(folder):  # by a short name: sockets allow no long paths
            listener.bind("socket")
        listing = listing_of("data")
    assert listing.paths == ("x",)
    assert listing.skipped == (
        "dangling is a broken link",
        "fifo is a FIFO",
        "null is a device",
        "self is a broken link",
        "socket is a socket",
    )


@pytest.mark.slow(2)
def test_sizes_and_modes_are_looked_at_while_that_is_cheap(fill: Filler, listing_of: Lister) -> None:
    folder = fill("a", "b", "c")
    for name, mode in (("a", 0o644), ("b", 0o600), ("c", 0o755)):
        (folder / name).chmod(mode)
    listing = listing_of("data")
    assert (listing.total_bytes, listing.unlike_service_modes) == (3, 2)
    for number in range(MAX_CHECKED - 3):
        (folder / f"x{number}").touch()
    assert listing_of("data").total_bytes == 3
    (folder / "one-more").touch()
    listing = listing_of("data")
    assert listing.total_bytes is None
    assert listing.unlike_service_modes >= 2
    assert len(listing.paths) == MAX_CHECKED + 1


def test_a_code_folder_may_be_empty(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    listing = list_folder("code", subject="Local.Code", member="Code", directory=str(tmp_path))
    assert (listing.paths, listing.whole_tree, listing.total_bytes) == ((), True, 0)
