"""What of a listing is brought to disk; where it could not lie there, nothing is downloaded at all."""

from collections.abc import Iterator
from dataclasses import replace
from threading import Lock

import pytest

from smlocal.channels.selection import check_paths, distinct, identified
from smlocal.contract.listing import Listing
from smlocal.errors import StagingError
from smlocal.sources.s3.interface import S3Error, S3Object


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
    found = distinct(listing("b", "a", "b", "c", "a", sizes=(1, 2, 1, 3, 2), keys=("kb", "ka", "kb", "kc", "ka")))
    assert list(found.paths) == ["b", "a", "c"]
    assert list(found.sizes) == [1, 2, 3]
    assert list(found.etags) == ['"1"', '"2"', '"3"']
    assert [found.key(index) for index in range(3)] == ["kb", "ka", "kc"]
    assert found.total_bytes == 6


def test_without_repetition_the_listing_is_kept_as_it_is() -> None:
    whole = listing("a", "b", sizes=(1, 2))
    assert distinct(whole) is whole


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
        f"ClientError: Data download failed:Unable to download object s3://bucket/data/{path} (InternalError: "
    )


def test_folders_of_markers_are_looked_at_too() -> None:
    markers = replace(listing("fine", keys=("other/fine",)), directories=("fine", "../out"))
    with pytest.raises(StagingError, match=r"s3://bucket/data/\.\./out/ \(InternalError"):
        check_paths(markers)


@pytest.mark.parametrize("path", ["...", "a..b/..c", ".hidden/x.", "a b/\n", "x" * 255, "ü" * 127, "x/" * 300 + "x"])
def test_odd_names_are_fine(path: str) -> None:
    check_paths(listing(path))


class Heads:
    """An S3 that only answers what objects are."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self._lock = Lock()

    def head(self, bucket: str, key: str) -> S3Object:
        with self._lock:
            self.asked.append(key)
        if key.endswith("gone"):
            raise S3Error("NoSuchKey", "The specified key does not exist.", status=404, uri=f"s3://{bucket}/{key}")
        return S3Object(bucket=bucket, key=key, size=len(key), etag=f'"{key}"')

    def list_objects(self, bucket: str, prefix: str) -> Iterator[S3Object]:
        raise NotImplementedError

    def read_into(self, wanted: S3Object, start: int, buffer: memoryview) -> int:
        raise NotImplementedError

    def read_first(self, wanted: S3Object, most: int) -> tuple[S3Object, bytes]:
        raise NotImplementedError


def test_where_the_listing_has_no_etags_each_object_is_asked_for_once() -> None:
    store = Heads()
    found = identified(listing(*(f"{number}" for number in range(100))), lambda: store)
    assert sorted(store.asked) == sorted(f"data/{number}" for number in range(100))
    assert list(found.etags) == [f'"data/{number}"' for number in range(100)]
    assert list(found.sizes) == [len(f"data/{number}") for number in range(100)]
    assert found.total_bytes == sum(found.sizes)


def test_where_the_listing_has_them_nobody_is_asked() -> None:
    whole = listing("a", sizes=(1,))
    assert identified(whole, Heads) is whole


def test_an_object_that_is_gone_ends_the_asking() -> None:
    store = Heads()
    with pytest.raises(S3Error, match="NoSuchKey"):
        identified(listing("gone", *(f"{number}" for number in range(10_000))), lambda: store)
    assert len(store.asked) < 10_000
