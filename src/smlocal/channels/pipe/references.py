"""What an attribute whose name ends in `-ref` points to."""

import os
from collections.abc import Mapping

from smlocal.channels.pipe.failures import missing
from smlocal.channels.pipe.items import LocalObject
from smlocal.channels.pipe.line_values import BadLineError
from smlocal.contract.s3_uri import bucket_name, split_s3_uri
from smlocal.sources.local_path import local_path
from smlocal.sources.mapping import is_remote, longest_match
from smlocal.sources.s3.interface import S3Object

_NO_NAMES = {"", ".", ".."}


def referenced(value: object, *, name: str, sources: Mapping[str, str], folder: str | None) -> LocalObject | S3Object:
    """The object of this URI, here where `sources` maps it, else in S3.

    A plain path or `file://` URI works too, relative to `folder`, which is None where there can be none: a manifest
    that is in S3. `BadLineError` for what is no URI, `FeedError` for one that a mapping can have nothing for.
    """
    if not isinstance(value, str) or not value or "\0" in value:
        raise BadLineError(f"has no URI as '{name}'")
    if not is_remote(value):
        path = local_path(value, folder or "")
        if not os.path.isabs(path):
            raise BadLineError(f"has no URI as '{name}': {value}")
        return LocalObject(path=path, uri=f"file://{path}")
    bucket_uri, key = split_s3_uri(value)
    bucket = bucket_name(bucket_uri)
    if not value.startswith("s3://") or not bucket or not key:
        raise BadLineError(f"has no S3 URI of an object as '{name}': {value}")
    match = longest_match(value, sources)
    if match is None:
        return S3Object(bucket=bucket, key=key)
    if not match.rest and match.key == value:
        return LocalObject(path=match.value, uri=value)
    if any(part in _NO_NAMES for part in match.rest.split("/")):
        raise missing(value, f"Nothing below {match.value} can have this key.")
    return LocalObject(path=f"{match.value.rstrip('/')}/{match.rest}", uri=value)
