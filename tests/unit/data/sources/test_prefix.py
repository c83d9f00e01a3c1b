"""Mapped s3:// locations keep the meaning of a key prefix, whatever the folder looks like."""

import os
import string
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.kit import examples

from smlocal.data.sources.local_listing import list_source
from smlocal.errors import SourceEmptyError
from smlocal.terms.listing import Listing

Lister = Callable[..., Listing]
Filler = Callable[..., Path]
SOME = {"s3://b/some/": "./data"}


@pytest.mark.parametrize(
    ("uri", "key_base", "paths", "below", "whole"),
    [
        ("s3://b/some", "some/", ("model.tar.gz", "train-01/x", "train.csv", "val/a/x", "val/y"), "", True),
        ("s3://b/some/", "some/", ("model.tar.gz", "train-01/x", "train.csv", "val/a/x", "val/y"), "", True),
        ("s3://b/some/val", "some/val/", ("a/x", "y"), "val", True),
        ("s3://b/some/val/", "some/val/", ("a/x", "y"), "val", True),
        ("s3://b/some/va", "some/", ("val/a/x", "val/y"), "", False),
        ("s3://b/some/val/a", "some/val/a/", ("x",), "val/a", True),
        ("s3://b/some/train", "some/", ("train-01/x", "train.csv"), "", False),
        ("s3://b/some/train.", "some/", ("train.csv",), "", False),
        ("s3://b/some/model.tar.gz", "some/", ("model.tar.gz",), "", False),
        ("s3://b/some/val/y", "some/val/", ("y",), "val", False),
    ],
)
def test_prefixes(
    fill: Filler,
    listing_of: Lister,
    uri: str,
    key_base: str,
    paths: tuple[str, ...],
    below: str,
    whole: bool,
) -> None:
    folder = fill("model.tar.gz", "train-01/x", "train.csv", "val/a/x", "val/y")
    listing = listing_of(uri, SOME)
    assert listing.bucket_uri == "s3://b/"
    assert listing.prefix == uri.removeprefix("s3://b/")
    assert listing.key_base == key_base
    assert listing.paths == paths
    assert os.path.normpath(listing.root) == os.path.normpath(folder / below)
    assert listing.whole_tree is whole


def test_a_prefix_that_names_a_folder_and_more_cuts_all_keys_alike(fill: Filler, listing_of: Lister) -> None:
    fill("train/x", "train-01/x", "other")
    listing = listing_of("s3://b/some/train", SOME)
    assert (listing.key_base, listing.paths) == ("some/", ("train-01/x", "train/x"))
    assert listing_of("s3://b/some/train/", SOME).paths == ("x",)


def test_empty_folders_beside_do_not_change_the_layout(fill: Filler, listing_of: Lister) -> None:
    (fill("train/x") / "train-empty").mkdir()
    listing = listing_of("s3://b/some/train", SOME)
    assert (listing.key_base, listing.paths, listing.whole_tree) == ("some/train/", ("x",), True)


def test_one_object_can_be_mapped_to_a_file_of_its_name(fill: Filler, listing_of: Lister) -> None:
    folder = fill("model.tar.gz", "model.tar.gz.bak")
    listing = listing_of("s3://b/a/model.tar.gz", {"s3://b/a/model.tar.gz": "data/model.tar.gz"})
    assert (listing.root, listing.paths, listing.uri("model.tar.gz")) == (
        str(folder),
        ("model.tar.gz",),
        "s3://b/a/model.tar.gz",
    )


@pytest.mark.parametrize("rest", ["../secret", "val/../../secret", "./model", "val//x", "/etc", "..", "a\0b"])
def test_no_prefix_reaches_out_of_the_mapped_folder(fill: Filler, listing_of: Lister, rest: str) -> None:
    fill("val/x", "model")
    fill("x", below="secret")
    with pytest.raises(SourceEmptyError):
        listing_of(f"s3://b/some/{rest}", SOME)


NAMES = st.text(alphabet=[*"ab-.0 \n", "é", "\ue000", "\U0001f600", "\udcff"], min_size=1, max_size=3).filter(
    lambda name: name not in {".", ".."}
)
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
BASES = st.sampled_from(["", "some/", "some/deep/"])


def without_clashes(paths: list[str]) -> list[str]:
    """Drop what a file system cannot hold: a file that is also a folder."""
    kept: list[str] = []
    for path in dict.fromkeys(paths):
        if not any(path.startswith(f"{other}/") or other.startswith(f"{path}/") for other in kept):
            kept.append(path)
    return kept


def model(keys: list[str], prefix: str) -> tuple[str, list[str]]:
    """S3, naively: the base that is cut off, and what remains of each selected key."""
    selected = sorted((key for key in keys if key.startswith(prefix)), key=os.fsencode)
    folder = prefix if not prefix or prefix.endswith("/") else f"{prefix}/"
    if not all(key.startswith(folder) for key in selected):
        folder = prefix[: prefix.rfind("/") + 1]
    return folder, [key[len(folder) :] for key in selected]


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(paths=st.lists(PATHS, min_size=1, max_size=8).map(without_clashes), base=BASES, data=st.data())
def test_a_listing_is_what_a_naive_model_of_s3_says(paths: list[str], base: str, data: st.DataObject) -> None:
    keys = [base + path for path in paths]
    cut = data.draw(st.sampled_from(keys).flatmap(lambda key: st.integers(len(base), len(key)).map(lambda n: key[:n])))
    tail = data.draw(st.sampled_from(["", "", "", "/", "a", ".", "..", "/../", string.punctuation[0]]))
    prefix = cut + tail
    key_base, expected = model(keys, prefix)
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            file = Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(os.fsencode(base + path))
        mapping = {f"s3://bucket/{base}": folder}
        arguments = {"channel": "c", "directory": "/", "mapping": mapping, "region": "r", "role": "a"}
        try:
            listing = list_source(f"s3://bucket/{prefix}", **arguments)  # type: ignore[arg-type]  # one type for all
        except SourceEmptyError:
            assert expected == []
            return
        assert list(listing.paths) == expected
        assert (listing.key_base, listing.prefix) == (key_base, prefix)
        for path in listing.paths:
            file = Path(listing.root, path)
            assert file.resolve().is_relative_to(Path(folder).resolve())
            assert file.read_bytes() == os.fsencode(key_base + path)
        below = {str(file.relative_to(listing.root)) for file in Path(listing.root).rglob("*") if file.is_file()}
        assert below >= set(listing.paths)
        if listing.whole_tree:
            assert below == set(listing.paths)
