"""One question for every kind of channel; here all data is on this machine and S3 is never asked."""

from collections.abc import Callable
from pathlib import Path

import pytest

from smlocal.errors import SourceEmptyError, SourceMissingError, SourceUnmappedError
from smlocal.terms.listing import Listing

Lister = Callable[..., Listing]
Filler = Callable[..., Path]
SOME = {"s3://b/some/": "./data"}


@pytest.mark.parametrize("kind", ["S3Prefix", "Converse"])
@pytest.mark.parametrize("mode", ["File", "FastFile", "Pipe"])
@pytest.mark.parametrize("uri", ["./data", "s3://b/some", "s3://b/some/", "https://s3.eu-west-1.amazonaws.com/b/some"])
def test_a_folder_is_a_prefix_in_every_mode(
    fill: Filler, channel_of: Lister, tmp_path: Path, uri: str, mode: str, kind: str
) -> None:
    fill("a-b", "a/b", "a0")
    listing = channel_of(uri, SOME, kind=kind, mode=mode)
    assert listing.paths == ("a-b", "a/b", "a0")
    assert (listing.root, listing.failure, listing.remote) == (str(tmp_path / "data"), None, False)


@pytest.mark.parametrize("mode", ["File", "Pipe"])
def test_a_partial_prefix_is_cut_after_its_last_slash(fill: Filler, channel_of: Lister, mode: str) -> None:
    fill("train-01/x", "train.csv", "other")
    listing = channel_of("s3://b/some/train", SOME, mode=mode)
    assert (listing.paths, listing.failure) == (("train-01/x", "train.csv"), None)


@pytest.mark.parametrize(
    ("uri", "found"),
    [("s3://b/some/train", "some/train-01/x"), ("s3://b/some/train.", "some/train.csv"), ("s3://b/so", None)],
)
def test_fastfile_takes_no_partial_prefix(fill: Filler, channel_of: Lister, uri: str, found: str | None) -> None:
    fill("train-01/x", "train.csv", "train/y")
    mapping = SOME if found else {"s3://b": "./"}
    if found is None:
        fill("x", below="some")
    prefix = uri.removeprefix("s3://b/")
    listing = channel_of(uri, mapping, mode="FastFile")
    end = f"Current S3 prefix: [{prefix}], found S3 object: [{found or 'some/x'}]."
    assert listing.failure is not None
    assert listing.failure.startswith("Failed to download data. For FastFile mode, partial S3 prefix is not supported.")
    assert listing.failure.endswith(end)
    assert listing.paths == ()


@pytest.mark.parametrize("uri", ["s3://b/some/train/", "s3://b/some/train.csv", "s3://b/some", "s3://b/some/train-01"])
def test_fastfile_takes_whole_names(fill: Filler, channel_of: Lister, uri: str) -> None:
    fill("train-01/x", "train.csv", "train/y")
    assert channel_of(uri, SOME, mode="FastFile").failure is None


def test_doubled_slashes_in_a_mapped_prefix_fail_as_they_would(fill: Filler, channel_of: Lister) -> None:
    fill("x")
    listing = channel_of("s3://b/a//b/", {"s3://b/a//b/": "data"})
    assert listing.failure == (
        "Failed to download data. S3 key: s3://b/a//b/x has an illegal char sub-sequence '//' in it"
    )
    assert channel_of("s3://b/a//b/", {"s3://b/a//b/": "data"}, mode="Pipe").paths == ("x",)


def test_an_augmented_manifest_is_one_object(fill: Filler, channel_of: Lister, tmp_path: Path) -> None:
    fill("m.jsonl", "m.jsonl.bak", "f/x")
    for uri, key in (("data/m.jsonl", f"{tmp_path}/data/m.jsonl"[1:]), ("s3://b/some/m.jsonl", "some/m.jsonl")):
        listing = channel_of(uri, SOME, kind="AugmentedManifestFile", mode="Pipe")
        assert (listing.paths, listing.prefix, listing.key(0)) == (("m.jsonl",), key, key)
        assert (listing.file(0), listing.total_bytes) == (f"{tmp_path}/data/m.jsonl", len("m.jsonl"))
    direct = channel_of("s3://x/m.jsonl", {"s3://x/m.jsonl": "data/m.jsonl"}, kind="AugmentedManifestFile", mode="Pipe")
    assert direct.uri_at(0) == "s3://x/m.jsonl"
    for uri in ("s3://b/some/f", "s3://b/some/m.json", "s3://b/some/", "s3://b/some//m.jsonl"):
        with pytest.raises(SourceEmptyError):
            channel_of(uri, SOME, kind="AugmentedManifestFile", mode="Pipe")
    with pytest.raises(SourceMissingError, match="is a folder, not a file"):
        channel_of("data/f", kind="AugmentedManifestFile", mode="Pipe")


def test_a_similar_name_is_offered_for_one_that_is_not_there(fill: Filler, channel_of: Lister) -> None:
    fill("manifest.json")
    with pytest.raises(SourceEmptyError) as caught:
        channel_of("s3://b/some/manifst.json", SOME, kind="ManifestFile")
    assert caught.value.remedy == ("Did you mean s3://b/some/manifest.json?",)
    assert caught.value.details == ('channel "train"', "job.yaml:14   S3Uri: s3://b/some/manifst.json")


@pytest.mark.parametrize("kind", ["S3Prefix", "ManifestFile", "AugmentedManifestFile"])
def test_https_that_is_not_s3_needs_a_mapping(channel_of: Lister, kind: str) -> None:
    with pytest.raises(SourceUnmappedError, match=r"no local data is mapped to https://example\.com/data/x"):
        channel_of("https://example.com/data/x", kind=kind)


def test_strict_takes_mapped_locations_only(fill: Filler, channel_of: Lister) -> None:
    fill("x")
    with pytest.raises(SourceUnmappedError, match="--strict"):
        channel_of("./data", strict=True)
    assert channel_of("s3://b/some/", SOME, strict=True).paths == ("x",)
