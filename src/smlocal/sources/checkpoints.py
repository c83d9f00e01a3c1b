"""The prefix that checkpoints are restored from and saved to: a folder here, which need not exist yet."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from smlocal.contract.checkpoints import UPLOADING, folder_key
from smlocal.contract.listing import Listing
from smlocal.contract.s3_uri import bucket_name, s3_form, split_s3_uri
from smlocal.quick_dataclass import dataclass
from smlocal.sources import s3_source_errors, source_errors
from smlocal.sources.local_listing import list_folder
from smlocal.sources.local_path import cleaned, local_path
from smlocal.sources.mapping import is_remote, longest_match
from smlocal.sources.s3.interface import ObjectStore, S3Object
from smlocal.sources.s3_listing import listing_of, select_remote
from smlocal.sources.source_errors import Caller, RequestedSource

_LONGEST = 255
"""Bytes of a name, on every file system in use."""
_SUBJECT, _MEMBER = "the checkpoints", "CheckpointConfig.S3Uri"


@dataclass(frozen=True, kw_only=True, slots=True)
class InS3:
    """How to ask S3 for a prefix that nothing here stands for."""

    store: Callable[[], ObjectStore]
    caller: Caller


def list_checkpoints(
    uri: str,
    *,
    directory: str,
    mapping: Mapping[str, str],
    strict: bool = False,
    where: str | None = None,
    in_s3: InS3 | None = None,
) -> Listing:
    """List what a checkpoint prefix holds, the whole of it for every host; nothing is fine.

    `root` of the answer is the folder that stands for the prefix. It can be written by this user, or made by them.
    Where nothing stands for it the objects in S3 are listed, with no root; without `in_s3` that is refused.
    Unlike a channel's, the prefix always names a folder: files saved to `s3://b/ckpt` have keys like `ckpt/a`.
    """
    uri = s3_form(uri)
    asked = RequestedSource(subject=_SUBJECT, member=_MEMBER, uri=uri, where=where, directory=directory)
    if in_s3 is not None and uri.startswith("s3://") and longest_match(uri, mapping) is None:
        return _list_objects(asked, in_s3)
    if is_remote(uri):
        bucket_uri, key = split_s3_uri(uri)
        folder = _mapped(asked, mapping)
    else:
        if strict:
            raise source_errors.strict_path(asked)
        folder = cleaned(local_path(uri, directory))
        bucket_uri, key = "file:///", f"{folder[1:]}/" if folder != "/" else ""
    if "\0" in folder or any(len(name) > _LONGEST for name in os.fsencode(folder).split(b"/")):
        raise source_errors.no_folder(asked)
    listing = Listing(
        root=folder,
        bucket_uri=bucket_uri,
        prefix=key,
        key_base=folder_key(key),
        paths=(),
        total_bytes=0,
        whole_tree=False,
    )
    _check(asked, folder)
    return list_again(listing, where=where)


def _list_objects(asked: RequestedSource, in_s3: InS3) -> Listing:
    with s3_source_errors.refused(asked, in_s3.caller):
        return list_prefix(in_s3.store(), *split_s3_uri(asked.uri))


def list_prefix(store: ObjectStore, bucket_uri: str, key: str) -> Listing:
    """The objects of a checkpoint prefix in S3; raises `S3Error`."""
    prefix = folder_key(key)

    def objects() -> Iterator[S3Object]:
        found = store.list_objects(bucket_name(bucket_uri), prefix)
        return (each for each in found if not each.key.endswith(UPLOADING))

    selection = select_remote(objects, bucket_uri=bucket_uri, prefix=prefix, mode="File")
    return replace(listing_of(selection, bucket_uri=bucket_uri, prefix=key), directories=())


def list_again(listing: Listing, *, where: str | None = None) -> Listing:
    """List what the folder of a checkpoint prefix holds by now, under the same names."""
    if not os.path.isdir(listing.root):
        return replace(listing, paths=(), total_bytes=0, whole_tree=False)
    found = list_folder(listing.root, subject=_SUBJECT, member=_MEMBER, directory="/", where=where)
    # What a save that was killed has left is no checkpoint.
    paths = tuple(path for path in found.paths if not path.endswith(UPLOADING))
    return replace(found, bucket_uri=listing.bucket_uri, prefix=listing.prefix, key_base=listing.key_base, paths=paths)


def _mapped(asked: RequestedSource, mapping: Mapping[str, str]) -> str:
    match = longest_match(asked.uri, mapping)
    if match is None:
        raise source_errors.unmapped(asked, *split_s3_uri(asked.uri))
    rest = match.rest.removesuffix("/")
    if rest and any(name in {"", ".", ".."} for name in rest.split("/")):  # none outside the mapped folder is meant
        raise source_errors.no_folder(asked)
    return cleaned(os.path.join(local_path(match.value, asked.directory), rest))


def _check(asked: RequestedSource, folder: str) -> None:
    """The folder, or the nearest above it that exists, is one that this user may write in."""
    existing = folder
    while not os.path.lexists(existing):
        existing = os.path.dirname(existing)
    if not os.path.isdir(existing):
        raise source_errors.occupied(asked, existing)
    effective = os.access in os.supports_effective_ids
    if not os.access(existing, os.W_OK | os.X_OK, effective_ids=effective):
        raise source_errors.unwritable(asked, existing)
