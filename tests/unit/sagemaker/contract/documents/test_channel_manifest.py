import os

from smlocal.sagemaker.contract.documents.config_files import manifest
from smlocal.terms.listing import Listing


def listing(*paths: str, bucket_uri: str = "s3://bucket/", prefix: str = "a/b", key_base: str = "a/b/") -> Listing:
    return Listing(
        root="/d",
        bucket_uri=bucket_uri,
        prefix=prefix,
        key_base=key_base,
        paths=paths,
        total_bytes=None,
        whole_tree=True,
    )


def test_the_prefix_alone_then_every_object_in_full() -> None:
    found = listing("test", "test2", prefix="tests/example/Task1/input", key_base="tests/example/Task1/input/")
    assert manifest(found) == (
        b"tests/example/Task1/input\n"
        b"s3://bucket/tests/example/Task1/input/test\n"
        b"s3://bucket/tests/example/Task1/input/test2\n"
    )


def test_no_objects_leave_the_prefix() -> None:
    assert manifest(listing()) == b"a/b\n"


def test_local_files_have_file_uris_and_nothing_is_escaped() -> None:
    odd = os.fsdecode(b"100% \xff \xc3\xa9")
    found = listing(odd, bucket_uri="file:///", prefix="d/", key_base="d/")
    assert manifest(found) == b"d/\nfile:///d/100% \xff \xc3\xa9\n"


def test_every_line_is_the_uri_the_listing_gives() -> None:
    found = listing("x", "y/z")
    assert manifest(found).decode().splitlines()[1:] == [found.uri(path) for path in found.paths]
