"""Lists the source of a channel in S3."""

from collections.abc import Callable, Iterator
from itertools import islice

from smlocal.contract.listing import Listing
from smlocal.contract.s3_uri import bucket_name, split_s3_uri
from smlocal.sources import s3_source_errors, source_errors
from smlocal.sources.s3.interface import ObjectStore, S3Object
from smlocal.sources.selection import OutOfOrderError, select, split_prefix
from smlocal.sources.source_errors import Caller, RequestedSource

_FIRST_PAGE = 1_000
"""Keys in one page of a listing; the object itself comes first."""


def list_prefix(asked: RequestedSource, *, mode: str, caller: Caller, store: ObjectStore) -> Listing:
    """List all objects whose key begins with that of the URI."""
    bucket_uri, prefix = split_s3_uri(asked.uri)
    bucket = bucket_name(bucket_uri)
    with s3_source_errors.as_source_errors(asked, caller):
        listing = select_in_s3(
            lambda: store.list_objects(bucket, prefix), bucket_uri=bucket_uri, prefix=prefix, mode=mode
        )
    if listing is None:
        raise source_errors.empty(asked, caller)
    return listing


def select_in_s3(
    objects: Callable[[], Iterator[S3Object]], *, bucket_uri: str, prefix: str, mode: str
) -> Listing | None:
    """Select from a listing; one that is not in S3's order is requested again, and sorted as a whole."""
    try:
        return select(objects(), bucket_uri=bucket_uri, prefix=prefix, mode=mode)
    except OutOfOrderError:
        found = sorted(objects(), key=lambda each: each.key)
        return select(iter(found), bucket_uri=bucket_uri, prefix=prefix, mode=mode)


def list_object(asked: RequestedSource, *, caller: Caller, store: ObjectStore) -> Listing:
    """List the one object that the URI names."""
    bucket_uri, key = split_s3_uri(asked.uri)
    with s3_source_errors.as_source_errors(asked, caller):
        found = list(islice(store.list_objects(bucket_name(bucket_uri), key), _FIRST_PAGE))
    exact = next((each for each in found if each.key == key), None)
    if exact is None:
        near = found[0].uri if len(found) == 1 else None
        raise source_errors.empty(asked, caller, near=near)
    base, name = split_prefix(key)
    return Listing(
        root="",
        bucket_uri=bucket_uri,
        prefix=key,
        key_base=base,
        paths=(name,),
        sizes=(exact.size or 0,),
        etags=(exact.etag or "",),
        total_bytes=exact.size or 0,
        whole_tree=True,
    )
