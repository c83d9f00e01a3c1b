"""A channel's source in S3: which objects it selects, under which names, in which order."""

from collections.abc import Callable, Iterator
from itertools import islice

from smlocal.contract.listing import Listing
from smlocal.contract.s3_uri import bucket_name, split_s3_uri
from smlocal.sources import s3_source_errors, source_errors
from smlocal.sources.s3.interface import ObjectStore, S3Object
from smlocal.sources.selection import OutOfOrderError, Selection, select, split_prefix
from smlocal.sources.source_errors import Caller, RequestedSource

_LOOKED_AT = 1_000
"""Keys in one page of a listing; the shortest, the object itself, comes first."""


def list_prefix(asked: RequestedSource, *, mode: str, caller: Caller, store: ObjectStore) -> Listing:
    """List all objects whose key begins with that of the URI."""
    bucket_uri, prefix = split_s3_uri(asked.uri)
    bucket = bucket_name(bucket_uri)
    with s3_source_errors.refused(asked, caller):
        selection = select_remote(
            lambda: store.list_objects(bucket, prefix), bucket_uri=bucket_uri, prefix=prefix, mode=mode
        )
    if not selection.found:
        raise source_errors.empty(asked, caller)
    return listing_of(selection, bucket_uri=bucket_uri, prefix=prefix)


def select_remote(objects: Callable[[], Iterator[S3Object]], *, bucket_uri: str, prefix: str, mode: str) -> Selection:
    """Select from what is listed; a server that lists in another order than S3 is asked again, and all of it sorted."""
    try:
        return select(objects(), bucket_uri=bucket_uri, prefix=prefix, mode=mode)
    except OutOfOrderError:
        found = sorted(objects(), key=lambda each: each.key)
        return select(iter(found), bucket_uri=bucket_uri, prefix=prefix, mode=mode)


def listing_of(selection: Selection, *, bucket_uri: str, prefix: str) -> Listing:
    """What was selected, and why it cannot be laid out where it cannot."""
    listing = Listing(
        root="",
        bucket_uri=bucket_uri,
        prefix=prefix,
        key_base=selection.key_base,
        paths=selection.paths,
        keys=selection.keys,
        sizes=selection.sizes,
        etags=selection.etags,
        total_bytes=sum(selection.sizes),
        whole_tree=True,
        directories=selection.directories,
    )
    return listing if selection.failure is None else listing.failed(selection.failure)


def list_object(asked: RequestedSource, *, caller: Caller, store: ObjectStore) -> Listing:
    """List the one object that the URI names."""
    bucket_uri, key = split_s3_uri(asked.uri)
    with s3_source_errors.refused(asked, caller):
        found = list(islice(store.list_objects(bucket_name(bucket_uri), key), _LOOKED_AT))
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
