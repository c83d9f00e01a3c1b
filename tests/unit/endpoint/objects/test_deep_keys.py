"""Keys with as many folders as a key can have."""

import os
from pathlib import Path

import pytest

from smlocal.base.files import remove_tree
from smlocal.endpoint.objects.bucket_folder import Bucket, create_bucket
from smlocal.endpoint.objects.listing import page, walk
from smlocal.endpoint.objects.object_files import Attributes
from smlocal.endpoint.objects.s3_documents import S3CallError

_NOTHING = Attributes(etag="0", headers={}, checksums={})
_DEEPEST = "a/" * 511 + "b"
_KEYS = ["a/" * 2 + "m", "a/" * 300 + "b/c", "a/" * 511, _DEEPEST, "z"]
_MOST_OPEN = 20


def bucket_with(folder: Path, *keys: str) -> Bucket:
    create_bucket(str(folder), "data")
    bucket = Bucket(str(folder), "data")
    for key in keys:
        with bucket.new_file() as new:
            bucket.put(key, new, _NOTHING)
    return bucket


def test_they_are_listed(tmp_path: Path) -> None:
    bucket = bucket_with(tmp_path, *_KEYS)
    assert len(_DEEPEST) == 1023
    assert [found.key for found in walk(bucket)] == sorted(_KEYS)
    assert [found.key for found in walk(bucket, prefix="a/" * 500)] == ["a/" * 511, _DEEPEST]
    found = page(bucket, prefix="", delimiter="/", after="", most=10)
    assert ([each.key for each in found.objects], found.prefixes) == (["z"], ["a/"])
    found = page(bucket, prefix="a/" * 300, delimiter="/", after="", most=10)
    assert (found.objects, found.prefixes) == ([], ["a/" * 301, "a/" * 300 + "b/"])


def test_few_folders_are_open_at_once(tmp_path: Path) -> None:
    bucket = bucket_with(tmp_path, *_KEYS)
    before = len(os.listdir("/dev/fd"))
    for _ in walk(bucket):
        assert len(os.listdir("/dev/fd")) < before + _MOST_OPEN
    assert len(os.listdir("/dev/fd")) == before


def test_a_listing_that_is_not_read_to_its_end_leaves_nothing_open(tmp_path: Path) -> None:
    bucket = bucket_with(tmp_path, *_KEYS)
    before = len(os.listdir("/dev/fd"))
    page(bucket, prefix="", delimiter="", after="", most=2)
    assert len(os.listdir("/dev/fd")) == before


@pytest.mark.slow(0.5)
def test_a_file_of_another_program_whose_path_is_no_key(tmp_path: Path) -> None:
    bucket = bucket_with(tmp_path, "z")
    folder = os.open(bucket.path, os.O_RDONLY)
    try:
        for _ in range(2500):
            os.mkdir("a", dir_fd=folder)
            inner = os.open("a", os.O_RDONLY, dir_fd=folder)
            os.close(folder)
            folder = inner
        os.close(os.open("file", os.O_CREAT, dir_fd=folder))
        assert [found.key for found in walk(bucket)] == ["z"]
        bucket.remove("z")
        with pytest.raises(S3CallError, match="BucketNotEmpty"):
            bucket.delete()
    finally:
        os.close(folder)
        remove_tree(bucket.path)  # pytest would fail to


def test_their_empty_folders_go_with_them(tmp_path: Path) -> None:
    bucket = bucket_with(tmp_path, _DEEPEST, "a/" * 100 + "m", "a/" * 40)
    bucket.remove(_DEEPEST)
    assert [found.key for found in walk(bucket)] == ["a/" * 40, "a/" * 100 + "m"]
    assert not os.path.exists(os.path.join(bucket.path, "a/" * 101))
    bucket.remove("a/" * 100 + "m")
    assert not os.path.exists(os.path.join(bucket.path, "a/" * 41))
    assert os.path.exists(os.path.join(bucket.path, "a/" * 40))
    bucket.remove("a/" * 40)
    bucket.delete()
    assert not os.path.exists(bucket.path)
