"""The objects of a listing that are brought to disk; where one could not lie there, nothing is downloaded at all."""

from dataclasses import replace

import pytest

from smlocal.data.channels.download_channel import check_paths, with_sizes_and_etags, without_duplicates
from smlocal.errors import StagingError
from smlocal.terms.listing import Listing


def listing(*paths: str, sizes: tuple[int, ...] = (), keys: tuple[str, ...] = ()) -> Listing:
    return Listing(
        root="",
        bucket_uri="s3://bucket/",
        prefix="data/",
        key_base="data/",
        paths=paths,
        total_bytes=sum(sizes) if sizes else None,
        whole_tree=False,
        sizes=sizes,
        etags=tuple(f'"{size}"' for size in sizes),
        keys=keys,
    )


def test_a_path_that_is_listed_twice_is_there_once_where_it_was_first() -> None:
    found = without_duplicates(
        listing("b", "a", "b", "c", "a", sizes=(1, 2, 1, 3, 2), keys=("kb", "ka", "kb", "kc", "ka"))
    )
    assert list(found.paths) == ["b", "a", "c"]
    assert list(found.sizes) == [1, 2, 3]
    assert list(found.etags) == ['"1"', '"2"', '"3"']
    assert [found.key(index) for index in range(3)] == ["kb", "ka", "kc"]
    assert found.total_bytes == 6


def test_without_repetition_the_listing_is_kept_as_it_is() -> None:
    whole = listing("a", "b", sizes=(1, 2))
    assert without_duplicates(whole) is whole


@pytest.mark.parametrize(
    "path",
    [
        "..",
        "../x",
        "a/../b",
        "a/..",
        ".",
        "./a",
        "a/./b",
        "/etc/passwd",
        "a//b",
        "a/",
        "",
        "a\0b",
        "x" * 256,
        "a/" + "ü" * 128,
    ],
)
def test_what_cannot_be_a_file_below_the_channel_is_refused(path: str) -> None:
    with pytest.raises(StagingError) as caught:
        check_paths(listing("fine", path))
    assert caught.value.sentence.startswith(
        f"Data download failed:Unable to download object s3://bucket/data/{path} (InternalError: "
    )


def test_folders_of_markers_are_looked_at_too() -> None:
    markers = replace(listing("fine", keys=("other/fine",)), directories=("fine", "../out"))
    with pytest.raises(StagingError, match=r"s3://bucket/data/\.\./out/ \(InternalError"):
        check_paths(markers)


@pytest.mark.parametrize("path", ["...", "a..b/..c", ".hidden/x.", "a b/\n", "x" * 255, "ü" * 127, "x/" * 300 + "x"])
def test_odd_names_are_fine(path: str) -> None:
    check_paths(listing(path))


def test_where_the_listing_has_sizes_and_etags_nobody_is_asked() -> None:
    whole = listing("a", sizes=(1,))
    assert with_sizes_and_etags(whole, lambda: pytest.fail("S3 was asked")) is whole
    empty = listing()
    assert with_sizes_and_etags(empty, lambda: pytest.fail("S3 was asked")) is empty
