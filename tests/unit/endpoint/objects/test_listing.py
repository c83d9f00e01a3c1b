"""Listings of folders, compared with what S3 does with a set of keys."""

import tempfile
from itertools import count
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from smlocal.endpoint.objects.bucket_folder import Bucket, create_bucket
from smlocal.endpoint.objects.listing import page
from smlocal.endpoint.objects.object_files import Attributes
from smlocal.endpoint.objects.s3_documents import S3CallError

NAMES = st.text("ab-/0é.", min_size=1, max_size=6)
NOTHING = Attributes(etag="0", headers={}, checksums={})


def expected(keys: set[str], prefix: str, delimiter: str, after: str) -> list[str]:
    found: list[str] = []
    for key in sorted(keys, key=str.encode):
        if not key.startswith(prefix) or key.encode() <= after.encode():
            continue
        at = key.find(delimiter, len(prefix)) if delimiter else -1
        shown = key if at < 0 else key[: at + 1]
        if shown not in found and not (at >= 0 and shown == after):
            found.append(shown)
    return found


@given(
    st.sets(NAMES, max_size=12),
    st.text("ab-/", max_size=3),
    st.sampled_from(["", "/", "-"]),
    st.integers(1, 4),
    st.text("ab-/0", max_size=3),
)
def test_every_page_of_every_listing(keys: set[str], prefix: str, delimiter: str, size: int, start: str) -> None:
    with tempfile.TemporaryDirectory() as root:
        create_bucket(root, "data")
        bucket = Bucket(root, "data")
        put = {key for key in sorted(keys) if _put(bucket, key)}
        found: list[str] = []
        after = start
        for _ in count():
            shown = page(bucket, prefix=prefix, delimiter=delimiter, after=after, most=size)
            names = [each.key for each in shown.objects] + shown.prefixes
            assert len(names) <= size
            found += sorted(names, key=str.encode)
            if shown.last is None:
                break
            after = shown.last
        if not (delimiter and start.startswith(prefix) and start.endswith(delimiter)):
            assert found == expected(put, prefix, delimiter, start)


@given(st.lists(st.tuples(st.booleans(), NAMES), max_size=20))
def test_objects_that_are_put_and_removed(changes: list[tuple[bool, str]]) -> None:
    with tempfile.TemporaryDirectory() as root:
        create_bucket(root, "data")
        bucket = Bucket(root, "data")
        keys: set[str] = set()
        for put, key in changes:
            if put and _put(bucket, key):
                keys.add(key)
            elif not put:
                bucket.remove(key)
                keys.discard(key)
            shown = page(bucket, prefix="", delimiter="", after="", most=1000)
            assert [each.key for each in shown.objects] == sorted(keys, key=str.encode)
        assert {path.name for path in Path(root).iterdir()} <= {"data", ".smlocal"}
        for key in keys:
            bucket.remove(key)
        bucket.delete()
        assert not Path(root, "data").exists()


def _put(bucket: Bucket, key: str) -> bool:
    with bucket.new_file() as new:
        try:
            bucket.put(key, new, NOTHING)
        except S3CallError as error:
            if error.code != "NotImplemented":
                raise
            return False
    return True
