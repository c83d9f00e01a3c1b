"""The rules by which a prefix selects objects, and what is made of their keys."""

from collections.abc import Iterable

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from smlocal.data.sources.s3.interface import S3Object
from smlocal.data.sources.selection import OutOfOrderError, check_local_paths, select
from smlocal.terms.listing import Listing

FASTFILE_WORDS = (
    "Failed to download data. For FastFile mode, partial S3 prefix is not supported. S3 prefix has to end with a full "
    "file or folder. Add a trailing '/' to the S3 prefix if it ends with a folder name that is also a prefix for other "
    "folders. Current S3 prefix: [penguins/preprocessing/train], found S3 object: "
    "[penguins/preprocessing/train-baseline/train-baseline.csv]."
)


def objects(keys: Iterable[str], size: int = 0) -> list[S3Object]:
    return [S3Object(bucket="b", key=key, size=size, etag=f'"{key}"') for key in keys]


def selected(*keys: str, prefix: str = "", mode: str = "File", size: int = 0) -> Listing:
    matching = sorted(key for key in keys if key.startswith(prefix))
    found = select(objects(matching, size), bucket_uri="s3://b/", prefix=prefix, mode=mode)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("prefix", "key_base", "paths"),
    [
        ("in/train", "in/", ("train-01/x", "train.csv", "train/x")),
        ("in/train/", "in/train/", ("x",)),
        ("in/train-01", "in/train-01/", ("x",)),
        ("in/train.csv", "in/", ("train.csv",)),
        ("in", "in/", ("train-01/x", "train.csv", "train/x")),
        ("i", "", ("in/train-01/x", "in/train.csv", "in/train/x")),
        ("", "", ("in/train-01/x", "in/train.csv", "in/train/x")),
    ],
)
def test_the_layout_below_the_channel(prefix: str, key_base: str, paths: tuple[str, ...]) -> None:
    found = selected("in/train-01/x", "in/train.csv", "in/train/x", prefix=prefix)
    assert (found.key_base, found.paths, found.keys, found.failure) == (key_base, paths, (), None)


def test_sizes_and_etags_belong_to_the_paths() -> None:
    listed = [S3Object(bucket="b", key=key, size=size, etag=None) for key, size in (("d/", 0), ("d/a", 5), ("d/b", 0))]
    found = select(listed, bucket_uri="s3://b/", prefix="d/", mode="File")
    assert found is not None
    assert (found.paths, list(found.sizes), found.etags) == (("a", "b"), [5, 0], ("", ""))


def test_a_folder_marker_is_a_directory_and_no_file() -> None:
    found = selected("d/", "d/e/", "d/f/", "d/f/x", "d/f/y/", "d/z", prefix="d/")
    assert (found.paths, found.directories, found.failure) == (("f/x", "z"), ("e", "f/y"), None)
    assert selected("d/", "d/e/", "d/z", prefix="d").directories == ("e",)
    assert selected("d/", "d/e/", "d.x", prefix="d").directories == ("d/e",)


def test_a_prefix_with_nothing_but_markers_is_not_empty() -> None:
    found = selected("d/", prefix="d/")
    assert (found.paths, found.directories) == ((), ())
    assert select([], bucket_uri="s3://b/", prefix="d/", mode="File") is None


def test_a_marker_with_bytes_can_be_no_file() -> None:
    failure = selected("d/e/", prefix="d/", size=3).failure
    assert failure == "Failed to download data. S3 key: s3://b/d/e/ has an empty path component in it"


def test_a_pipe_makes_no_files() -> None:
    keys = ["a", "a/", "a//b", "a/../../x", "a/b"]
    found = selected(*keys, mode="Pipe")
    assert (found.failure, found.directories) == (None, ())
    assert [found.key_base + path for path in found.paths] == sorted({*keys} - {"a/"})
    assert selected(*keys, mode="Pipe", size=1).paths == tuple(sorted(keys))


@pytest.mark.parametrize("mode", ["File", "FastFile"])
@pytest.mark.parametrize("keys", [("d/a//b", "d/z"), ("d/a", "d/a//b"), ("d//a//b",)])
def test_doubled_slashes_fail_in_the_words_of_the_service(keys: tuple[str, ...], mode: str) -> None:
    first = next(key for key in keys if "//" in key)
    words = f"Failed to download data. S3 key: s3://b/{first} has an illegal char sub-sequence '//' in it"
    assert selected(*keys, prefix="d/", mode=mode).failure == words


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("d/../x", "d/../x has an illegal path component '..' in it"),
        ("d/e/..", "d/e/.. has an illegal path component '..' in it"),
        ("d/./x", "d/./x has an illegal path component '.' in it"),
        ("d/a\0b", r"d/a\0b has an illegal char '\0' in it"),
        ("d/" + "x" * 256, "d/" + "x" * 256 + " has a path component of more than 255 bytes in it"),
        ("d/" + "é" * 128 + "/x", "d/" + "é" * 128 + "/x has a path component of more than 255 bytes in it"),
        ("d/../", "d/../ has an illegal path component '..' in it"),
    ],
)
def test_a_key_that_can_be_no_file_fails(key: str, words: str) -> None:
    assert selected("d/a", key, prefix="d/").failure == f"Failed to download data. S3 key: s3://b/{words}"


@pytest.mark.parametrize("name", ["..a", "a..", "...", ".a", " ", "x" * 255, "é" * 127, "a\nb", "\x7f", "~", "-rf"])
def test_odd_names_that_are_names_are_taken(name: str) -> None:
    found = selected(f"d/{name}", f"d/{name}.d/x", prefix="d/")
    if len(name) < 100:
        assert (found.failure, set(found.paths)) == (None, {name, f"{name}.d/x"})
    assert selected(f"d/{name}", prefix="d/").paths == (name,)


def test_what_the_prefix_takes_away_is_not_looked_at() -> None:
    assert selected("../x", prefix="../").paths == ("x",)
    assert selected("../x", prefix="..").paths == ("x",)
    assert selected("..x", "../x", prefix="..").failure is not None


@pytest.mark.parametrize(
    ("keys", "first", "second"),
    [
        (("d/a", "d/a/b"), "d/a", "d/a/b"),
        (("d/a", "d/a-", "d/a/b"), "d/a", "d/a/b"),
        (("d/a", "d/a/"), "d/a", "d/a/"),
        (("d/a/b", "d/a/b/c/", "d/a/x"), "d/a/b", "d/a/b/c/"),
    ],
)
def test_a_file_where_a_folder_must_be_fails(keys: tuple[str, ...], first: str, second: str) -> None:
    words = f"Failed to download data. S3 key: s3://b/{second} needs a path that S3 key: s3://b/{first} has already"
    assert selected(*keys, prefix="d/").failure == words


def test_a_prefix_that_is_object_and_folder_clashes_with_itself() -> None:
    assert selected("train", "train/x", prefix="train").failure is not None
    assert selected("train", "train/x", prefix="train", mode="Pipe").paths == ("train", "train/x")


def test_a_leading_slash_is_dropped_from_the_path_and_not_from_the_key() -> None:
    found = selected("/a", "/b/c")
    assert (found.key_base, found.paths, found.keys) == ("/", ("a", "b/c"), ())
    mixed = selected("/a", "b/c", "/d/", size=0)
    assert (mixed.paths, mixed.keys, mixed.directories) == (("a", "b/c"), ("/a", "b/c"), ("d",))
    clash = selected("/a", "a").failure
    assert clash == "Failed to download data. S3 key: s3://b/a needs a path that S3 key: s3://b//a has already"


def test_fastfile_refuses_a_partial_prefix_in_the_words_of_the_service() -> None:
    prefix = "penguins/preprocessing/train"
    keys = [f"{prefix}-baseline/train-baseline.csv", f"{prefix}/x.csv", f"{prefix}.csv"]
    assert selected(keys[0], keys[1], prefix=prefix, mode="FastFile").failure == FASTFILE_WORDS
    assert selected(keys[0], prefix=prefix, mode="FastFile").failure == FASTFILE_WORDS
    assert selected(*keys, prefix=prefix).failure is None
    assert check_local_paths(
        prefix, "s3://b/", "penguins/preprocessing/", ("train-baseline/train-baseline.csv",), "FastFile"
    ) == (FASTFILE_WORDS)


@pytest.mark.parametrize("prefix", ["a/train", "a/train/", "a/", "a", ""])
def test_fastfile_takes_a_whole_folder(prefix: str) -> None:
    assert selected("a/train/x", "a/train/y/z", prefix=prefix, mode="FastFile").failure is None


def test_fastfile_takes_one_object_and_beside_it_what_lies_below() -> None:
    assert selected("a/train.csv", prefix="a/train.csv", mode="FastFile").failure is None
    assert "[a/train.csv.bak]" in str(selected("a/train.csv", "a/train.csv.bak", prefix="a/train.csv", mode="FastFile"))


def test_a_listing_out_of_order_is_noticed_and_a_key_that_comes_twice_is_one() -> None:
    with pytest.raises(OutOfOrderError):
        select(objects(["b", "a"]), bucket_uri="s3://b/", prefix="", mode="File")
    found = select(objects(["a", "a", "b"]), bucket_uri="s3://b/", prefix="", mode="File")
    assert found is not None
    assert found.paths == ("a", "b")


NAMES = st.text(alphabet="ab/.-", min_size=1, max_size=6)


@given(keys=st.sets(NAMES, min_size=1, max_size=8), prefix=st.text(alphabet="ab/.-", max_size=3))
def test_files_here_and_objects_there_follow_one_rule(keys: set[str], prefix: str) -> None:
    assume(any(key.startswith(prefix) for key in keys))
    found = selected(*keys, prefix=prefix, mode="FastFile", size=1)
    if found.failure is None and not found.keys:
        assert check_local_paths(prefix, "s3://b/", found.key_base, found.paths, "FastFile") is None
    elif found.failure is not None and "partial S3 prefix" in found.failure:
        pipe = selected(*keys, prefix=prefix, mode="Pipe", size=1)
        if not pipe.keys:
            assert check_local_paths(prefix, "s3://b/", pipe.key_base, pipe.paths, "FastFile") == found.failure
