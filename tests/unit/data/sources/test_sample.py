"""The first objects of a listing, local and in S3."""

from collections.abc import Callable
from pathlib import Path

import pytest

from smlocal.data.sources.selection import first_objects
from smlocal.terms.listing import Listing

Lister = Callable[..., Listing]
Filler = Callable[..., Path]
IN_S3 = Listing(
    root="",
    bucket_uri="s3://b/",
    prefix="x/",
    key_base="x/",
    paths=("1", "2", "3"),
    sizes=(10, 20, 40),
    etags=("a", "b", "c"),
    total_bytes=70,
    whole_tree=True,
    directories=("empty",),
)


@pytest.mark.parametrize("mode", ["File", "FastFile", "Pipe"])
@pytest.mark.parametrize("uri", ["./data", "s3://b/some/"])
def test_the_first_files_of_a_folder(fill: Filler, channel_of: Lister, mode: str, uri: str) -> None:
    folder = fill("a-b", "a/b", "a0", "b")
    (folder / "a-b").write_bytes(b"12345")
    (folder / "a" / "b").write_bytes(b"123")
    part = first_objects(channel_of(uri, {"s3://b/some/": "./data"}, mode=mode), 2)
    assert (part.paths, part.total_bytes, part.left_out, part.whole_tree) == (("a-b", "a/b"), 8, 2, False)


def test_the_first_files_of_a_manifest(fill: Filler, channel_of: Lister) -> None:
    fill("k/1", "k/2")
    documents = fill("m.json", below="documents")
    (documents / "m.json").write_text('[{"prefix": "s3://b/some/"}, "k/2", "k/1"]')
    mapping = {"s3://b/some/": "./data"}
    part = first_objects(channel_of("./documents/m.json", mapping, kind="ManifestFile"), 1)
    assert (part.paths, part.left_out) == (("k/2",), 1)
    assert Path(part.file(0)).name == "2"
    assert part.uri_at(0) == "s3://b/some/k/2"


def test_the_first_objects_in_s3_with_their_sizes_and_etags() -> None:
    part = first_objects(IN_S3, 2)
    assert (part.paths, part.sizes, part.etags, part.total_bytes) == (("1", "2"), (10, 20), ("a", "b"), 30)
    assert (part.left_out, part.directories, part.whole_tree) == (1, (), False)


@pytest.mark.parametrize("count", [3, 4, 1_000_000_000])
def test_a_listing_that_is_not_longer_stays_as_it_is(count: int) -> None:
    assert first_objects(IN_S3, count) is IN_S3


def test_a_listing_that_fails_has_nothing_to_leave_out() -> None:
    failed = IN_S3.failed("no")
    assert first_objects(failed, 1) is failed
