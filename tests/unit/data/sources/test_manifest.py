"""`ManifestFile` channels whose manifest and objects are on this machine."""

import json
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from smlocal.data.sources.channel import ChannelSource, list_channel
from smlocal.data.sources.s3.interface import ObjectStore
from smlocal.errors import SourceEmptyError, SourceMissingError, SourceUnmappedError, SourceUnreadableError
from smlocal.sagemaker.contract.documents.config_files import manifest
from smlocal.terms.listing import Listing

Lister = Callable[..., Listing]
Filler = Callable[..., Path]
MAPPED = {"s3://b/in": "./data"}


@pytest.fixture
def named(tmp_path: Path, channel_of: Lister) -> Lister:
    """Lists a channel by a manifest with this prefix and these entries."""

    def make(prefix: str, *names: Any, mapping: dict[str, str] | None = None, **how: Any) -> Listing:
        text = json.dumps([{"prefix": prefix}, *names])
        (tmp_path / "manifest.json").write_text(text, encoding="utf-8")
        return channel_of("manifest.json", MAPPED if mapping is None else mapping, kind="ManifestFile", **how)

    return make


def test_the_entries_are_the_paths_in_the_order_of_the_manifest(fill: Filler, named: Lister, tmp_path: Path) -> None:
    fill("z", "a/b", "a/c", "unnamed")
    listing = named("s3://b/in/", "z", "a/c", "a/b")
    assert listing.paths == ("z", "a/c", "a/b")
    assert (listing.root, listing.failure, listing.whole_tree) == (str(tmp_path / "data"), None, False)
    assert (listing.prefix, listing.key_base, listing.total_bytes) == ("in/", "in/", len("za/ca/b"))
    assert manifest(listing) == b"in/\ns3://b/in/z\ns3://b/in/a/c\ns3://b/in/a/b\n"
    assert [Path(listing.file(index)).read_text() for index in range(3)] == ["z", "a/c", "a/b"]


@pytest.mark.parametrize(
    ("prefix", "names", "paths", "keys"),
    [
        ("s3://b/in/tr", ["ain/x", "y"], ("ain/x", "y"), ("in/train/x", "in/try")),
        ("s3://b/in", ["/train/x", "/try"], ("train/x", "try"), ("in/train/x", "in/try")),
        ("s3://b/in/train", ["/x", "ed"], ("x", "ed"), ("in/train/x", "in/trained")),
        ("s3://b/in/train/", ["x"], ("x",), ("in/train/x",)),
    ],
)
def test_prefix_and_entry_are_simply_glued(
    fill: Filler, named: Lister, prefix: str, names: list[str], paths: tuple[str, ...], keys: tuple[str, ...]
) -> None:
    fill("train/x", "try", "trained")
    for mode in ("File", "Pipe"):
        listing = named(prefix, *names, mode=mode)
        assert (listing.paths, listing.failure, listing.prefix) == (paths, None, prefix.removeprefix("s3://b/"))
        assert tuple(listing.key(index) for index in range(len(paths))) == keys
        assert [f"in/{Path(listing.file(index)).read_text()}" for index in range(len(paths))] == list(keys)


def test_a_bare_bucket_needs_the_slash_in_every_entry(fill: Filler, named: Lister) -> None:
    fill("x", "y")
    listing = named("s3://b", "/x", "/y", mapping={"s3://b": "data"})
    assert (listing.paths, listing.prefix, listing.uri_at(1), listing.failure) == (("x", "y"), "", "s3://b/y", None)
    failure = named("s3://b", "/x", "y", mapping={"s3://b": "data"}).failure
    assert "has a prefix that ends with its bucket, and no '/' before its element 3" in str(failure)


def test_a_folder_may_stand_for_the_prefix_but_not_with_strict(
    fill: Filler, named: Lister, channel_of: Lister, tmp_path: Path
) -> None:
    fill("x", "y/z")
    for prefix in ("data/", "./data/", f"{tmp_path}/data/", f"file://{tmp_path}/data/"):
        listing = named(prefix, "x", "y/z")
        assert (listing.root, listing.paths, listing.failure) == (str(tmp_path / "data"), ("x", "y/z"), None)
        assert listing.uri_at(0) == f"file://{tmp_path}/data/x"
    glued = named("dat", "a/x")
    assert (glued.file(0), glued.paths) == (f"{tmp_path}/data/x", ("a/x",))
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "m.json").write_text('[{"prefix": "../data/"}, "x"]')
    found = channel_of("s3://m/m.json", {"s3://m/": "sub"}, kind="ManifestFile")
    assert (found.root, found.paths) == (str(tmp_path / "data"), ("x",))
    with pytest.raises(SourceUnmappedError, match=r"\.\./data/ is a local path, which --strict"):
        channel_of("s3://m/m.json", {"s3://m/": "sub"}, kind="ManifestFile", strict=True)


def test_an_object_named_twice_is_one_file_but_is_sent_twice(fill: Filler, named: Lister) -> None:
    fill("x", "y")
    assert named("s3://b/in/", "x", "y", "x", "y").paths == ("x", "y")
    assert named("s3://b/in/", "y", "x", "y", mode="Pipe").paths == ("y", "x", "y")


def test_objects_in_s3_are_not_asked_for(named: Lister) -> None:
    listing = named("s3://elsewhere/p/", "a/b", "c", "gone")
    assert (listing.remote, listing.whole_tree, listing.bucket) == (True, True, "elsewhere")
    assert (listing.paths, listing.total_bytes) == (("a/b", "c", "gone"), None)
    assert (listing.sizes, listing.etags, listing.keys) == ((), (), ())
    listing = named("https://elsewhere.s3.amazonaws.com/p/", "a b")
    assert listing.uri_at(0) == "s3://elsewhere/p/a b"


def test_folder_markers_are_directories_or_nothing(fill: Filler, named: Lister) -> None:
    fill("x")
    listing = named("s3://b/in/", "x", "e/", "e/", "")
    assert (listing.paths, listing.directories, listing.failure) == (("x",), ("e",), None)
    pipe = named("s3://b/in/", "x", "e/", mode="Pipe")
    assert (pipe.paths, pipe.directories) == (("x",), ())
    nothing = named("s3://b/in/../x/", "e/")
    assert (nothing.paths, nothing.failure) == ((), None)


@pytest.mark.parametrize("mode", ["File", "Pipe"])
@pytest.mark.parametrize("name", ["gone", "x/y", "folder", "../beside/x", "./x", "a\0b", "n" * 300])
def test_a_missing_entry_fails_the_download(fill: Filler, named: Lister, name: str, mode: str) -> None:
    fill("x", "folder/y")
    fill("x", below="beside")
    listing = named("s3://b/in/", "x", name, mode=mode)
    assert listing.paths == ()
    words = f"Unable to download object s3://b/in/{name} (NoSuchKey: The specified key does not exist.)"
    if mode == "Pipe" or name in {"gone", "folder"}:
        assert listing.failure == words
    else:
        assert listing.failure is not None


def test_a_mapped_prefix_that_leads_nowhere_has_no_objects(fill: Filler, named: Lister) -> None:
    fill("x")
    assert "NoSuchKey" in str(named("s3://b/in/gone/", "x").failure)
    assert "NoSuchKey" in str(named("s3://b/in/../data/", "x", mode="Pipe").failure)
    with pytest.raises(SourceMissingError):
        named("s3://b/in/", "x", mapping={"s3://b/in": "gone"})


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["a//b"], "S3 key: s3://b/in/a//b has an illegal char sub-sequence '//' in it"),
        (["/b"], "S3 key: s3://b/in//b has an illegal char sub-sequence '//' in it"),
        (["a/../b"], "S3 key: s3://b/in/a/../b has an illegal path component '..' in it"),
        (["a", "b", "a/c"], "S3 key: s3://b/in/a/c needs a path that S3 key: s3://b/in/a has already"),
    ],
)
def test_the_layout_follows_the_rules_of_prefixes(named: Lister, names: list[str], words: str) -> None:
    assert named("s3://b/in/", *names, mapping={}).failure == f"Failed to download data. {words}"


def test_two_keys_for_one_path_clash(named: Lister) -> None:
    assert "needs a path that" in str(named("s3://b/in", "x", "/x", mapping={}).failure)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x,y\n", "is not a JSON array"),
        ("[]", 'has no prefix: its first element must be {"prefix": "s3://bucket/some/prefix/"}'),
        ('[{"prefix": "s3://b/in/"}]', "names no object"),
        ('[{"prefix": "s3://b/in/"}, 3]', "has no string as its element 2"),
        ('[{"prefix": "s3:///x"}, "a"]', "has a prefix that is not an S3 URI: s3:///x"),
        ('[{"prefix": "gs://b/x"}, "a"]', "has a prefix that is not an S3 URI: gs://b/x"),
        ("", "is empty"),
    ],
)
@pytest.mark.parametrize("mode", ["File", "Pipe"])
def test_what_is_no_manifest_fails_the_download(
    tmp_path: Path, channel_of: Lister, text: str, words: str, mode: str
) -> None:
    (tmp_path / "m.json").write_text(text)
    listing = channel_of("m.json", kind="ManifestFile", mode=mode)
    assert listing.failure == f"Failed to download data. Manifest file: file://{tmp_path}/m.json {words}"
    assert listing.paths == ()


def test_the_manifest_itself_must_be_one_file(fill: Filler, channel_of: Lister) -> None:
    fill("m.json", "f/x")
    for uri in ("s3://b/in/gone.json", "s3://b/in/m", "s3://b/in/f", "s3://b/in/../data/m.json", "s3://b/in"):
        with pytest.raises(SourceEmptyError, match="No S3 objects found under S3 URL"):
            channel_of(uri, MAPPED, kind="ManifestFile")
    with pytest.raises(SourceMissingError, match="is a folder, not a file"):
        channel_of("data", kind="ManifestFile")
    with pytest.raises(SourceMissingError, match="does not exist"):
        channel_of("gone.json", kind="ManifestFile")
    with pytest.raises(SourceUnmappedError, match="--strict"):
        channel_of("data/m.json", kind="ManifestFile", strict=True)


def no_store() -> ObjectStore:
    pytest.fail("nothing has to be asked of S3 here")


def test_entries_that_may_not_be_read_are_refused(
    open_folder: Path, as_user: Callable[[], AbstractContextManager[None]]
) -> None:
    (open_folder / "x").touch(mode=0)
    (open_folder / "m.json").write_text('[{"prefix": "./"}, "x"]')
    asked = ChannelSource(name="c", uri="m.json", data_type="ManifestFile", mode="File", directory=str(open_folder))
    with as_user(), pytest.raises(SourceUnreadableError) as caught:
        list_channel(asked, mapping={}, strict=False, region="r", role="a", store=no_store)
    assert caught.value.sentence == f'channel "c": this user may not read {open_folder}/x'


def test_a_name_that_comes_twice_is_delivered_once(named: Lister) -> None:
    names = [f"{number:06}.jpg" for number in range(20_000)]
    listing = named("s3://elsewhere/p/", *names)
    assert listing.paths == tuple(names)
    shuffled = [names[number * 7919 % 20_000] for number in range(20_000)]
    assert named("s3://elsewhere/p/", *shuffled, *shuffled[:10]).paths == tuple(shuffled)


def test_names_outside_ascii(fill: Filler, named: Lister) -> None:
    fill("é/\U0001f600")
    listing = named("s3://b/in/", "é/\U0001f600")
    assert Path(os.fsencode(listing.file(0)).decode()).read_text() == "é/\U0001f600"
