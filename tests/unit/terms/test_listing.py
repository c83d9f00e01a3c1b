"""The parts of a listing: keys, URIs, files, shards."""

from array import array
from dataclasses import replace

import pytest

from smlocal.sagemaker.contract.documents.config_files import manifest
from smlocal.terms.listing import WHOLE, Listing, Shard

PLAIN = Listing(
    root="/d/a",
    bucket_uri="s3://bucket/",
    prefix="a",
    key_base="a/",
    paths=("x", "y/z", "w"),
    total_bytes=6,
    whole_tree=True,
    directories=("e",),
)
REMOTE = replace(PLAIN, root="", sizes=array("q", (1, 2, 3)), etags=('"1"', '"2"', '"3"'))
KEYED = replace(PLAIN, paths=("x", "ay"), key_base="a", keys=("a/x", "aay"), root="/d", root_key="")


def test_a_plain_listing_needs_no_keys() -> None:
    assert [PLAIN.key(index) for index in range(3)] == ["a/x", "a/y/z", "a/w"]
    assert PLAIN.uri("y/z") == PLAIN.uri_at(1) == "s3://bucket/a/y/z"
    assert [PLAIN.file(index) for index in range(3)] == ["/d/a/x", "/d/a/y/z", "/d/a/w"]
    assert (PLAIN.bucket, PLAIN.remote, REMOTE.remote) == ("bucket", False, True)


def test_keys_that_do_not_follow_from_the_path_are_kept() -> None:
    assert [KEYED.key(index) for index in range(2)] == ["a/x", "aay"]
    assert KEYED.uri("ay") == KEYED.uri_at(1) == "s3://bucket/aay"
    assert [KEYED.file(index) for index in range(2)] == ["/d/a/x", "/d/aay"]


def test_a_prefix_that_cuts_a_name_leaves_the_whole_name_on_disk() -> None:
    glued = replace(PLAIN, root="/d", root_key="", key_base="tr", paths=("ain/x",))
    assert (glued.key(0), glued.file(0)) == ("train/x", "/d/train/x")


@pytest.mark.parametrize(
    ("shard", "paths", "total"), [(Shard(index=0, count=2), ("x", "w"), 4), (Shard(index=1, count=2), ("y/z",), 2)]
)
def test_a_shard_has_its_own_objects_only(shard: Shard, paths: tuple[str, ...], total: int) -> None:
    part = REMOTE.dealt_to(shard)
    assert (part.paths, part.total_bytes, list(part.sizes)) == (paths, total, list(REMOTE.sizes[shard.slice]))
    assert part.etags == REMOTE.etags[shard.slice]
    assert [part.uri(path) for path in part.paths] == [REMOTE.uri(path) for path in paths]
    assert not part.whole_tree
    assert part.directories == ()
    assert PLAIN.dealt_to(shard).total_bytes is None


def test_a_surplus_host_gets_nothing() -> None:
    part = PLAIN.dealt_to(Shard(index=4, count=5))
    assert (part.paths, part.total_bytes) == ((), 0)


def test_one_host_gets_the_very_listing() -> None:
    assert PLAIN.dealt_to(WHOLE) is PLAIN


def test_keys_are_dealt_with_their_paths() -> None:
    part = KEYED.dealt_to(Shard(index=1, count=2))
    assert (part.paths, part.keys, part.uri("ay")) == (("ay",), ("aay",), "s3://bucket/aay")


def test_a_failed_listing_has_nothing_to_deliver() -> None:
    found = REMOTE.failed("words")
    assert found.failure == "words"
    assert not any([found.paths, found.keys, found.sizes, found.etags, found.directories, found.whole_tree])
    assert found.dealt_to(Shard(index=1, count=2)).failure == "words"


def test_long_listings_work_the_same() -> None:
    names = [f"{number:05}" for number in range(9000)]
    long = replace(PLAIN, paths=tuple(names))
    assert manifest(long) == b"a\n" + b"".join(f"s3://bucket/a/{name}\n".encode() for name in names)
    part = long.dealt_to(Shard(index=1, count=2))
    assert list(part.paths) == names[1::2]
    assert part.uri_at(-1) == "s3://bucket/a/08999"
    keyed = replace(long, keys=tuple(f"other/{name}" for name in names))
    assert manifest(keyed).splitlines()[-1] == b"s3://bucket/other/08999"
