"""The selection of one channel: its objects, their paths and their order; and where checkpoints are restored from."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from smlocal.base.at_use import at_use
from smlocal.base.quick_dataclass import dataclass
from smlocal.data.sources import local_listing, source_errors
from smlocal.data.sources.local_listing import list_folder
from smlocal.data.sources.local_path import cleaned, is_remote, local_path, longest_match
from smlocal.data.sources.selection import check_local_paths
from smlocal.data.sources.source_errors import Caller, RequestedSource
from smlocal.terms.checkpoints import UPLOADING, folder_key
from smlocal.terms.listing import Listing, bucket_name, s3_form, split_s3_uri
from smlocal.terms.rights import EVERYTHING, Rights

if TYPE_CHECKING:
    from smlocal.data.sources import s3_listing
    from smlocal.data.sources.manifest import list_manifest
    from smlocal.data.sources.s3.interface import ObjectStore, S3Object
    from smlocal.data.sources.s3_listing import select_in_s3
else:  # most channels are folders
    s3_listing = at_use("smlocal.data.sources.s3_listing")
    list_manifest = at_use("smlocal.data.sources.manifest", "list_manifest")
    ObjectStore = at_use("smlocal.data.sources.s3.interface", "ObjectStore")
    S3Object = at_use("smlocal.data.sources.s3.interface", "S3Object")
    select_in_s3 = at_use("smlocal.data.sources.s3_listing", "select_in_s3")


@dataclass(frozen=True, kw_only=True, slots=True)
class ChannelSource:
    """A channel's data in the job file."""

    name: str
    uri: str
    data_type: str
    """`S3Prefix`, `ManifestFile`, `AugmentedManifestFile` or `Converse`."""
    mode: str
    """The channel's input mode: `File`, `FastFile` or `Pipe`."""
    directory: str
    """The folder that relative paths start from."""
    where: str | None = None
    """`job.yaml:14`"""


def list_channel(
    asked: ChannelSource,
    *,
    mapping: Mapping[str, str],
    strict: bool,
    region: str,
    role: str,
    store: Callable[[], ObjectStore],
    rights: Rights = EVERYTHING,
) -> Listing:
    """List what a channel selects; `store` is called only if S3 is needed.

    Refusals of the service at creation raise an error; those of its download are the listing's `failure`.
    """
    uri = s3_form(asked.uri)
    source = RequestedSource(
        subject=f'channel "{asked.name}"',
        member="S3Uri",
        uri=uri,
        where=asked.where,
        directory=asked.directory,
        rights=rights,
    )
    caller = Caller(region=region, role=role)
    in_s3 = is_remote(uri) and longest_match(uri, mapping) is None
    if in_s3 and not uri.startswith("s3://"):
        raise source_errors.unmapped(source, *split_s3_uri(uri))
    if asked.data_type in {"ManifestFile", "AugmentedManifestFile"}:
        if in_s3:
            document = s3_listing.list_object(source, caller=caller, store=store())
        else:
            document = local_listing.list_object(source, mapping=mapping, strict=strict, caller=caller)
        if asked.data_type == "AugmentedManifestFile":
            return document

        return list_manifest(source, document, mode=asked.mode, mapping=mapping, strict=strict, store=store)
    if in_s3:
        return s3_listing.list_prefix(source, mode=asked.mode, caller=caller, store=store())
    listing = local_listing.list_source(
        uri,
        channel=asked.name,
        directory=asked.directory,
        mapping=mapping,
        strict=strict,
        where=asked.where,
        region=region,
        role=role,
        rights=rights,
    )
    failure = check_local_paths(listing.prefix, listing.bucket_uri, listing.key_base, listing.paths, asked.mode)
    return listing if failure is None else listing.failed(failure)


_LONGEST = 255
"""Bytes of a name, on every file system in use."""
_SUBJECT = "the checkpoints"
_WITHOUT_LINKS = Rights(folders=("/",))
"""For a folder to which the job has a right: it has no link in its path."""


@dataclass(frozen=True, kw_only=True, slots=True)
class InS3:
    """How to list a prefix in S3 that is not mapped to a folder."""

    store: Callable[[], ObjectStore]
    caller: Caller


def list_checkpoints(
    uri: str,
    *,
    member: str,
    directory: str,
    mapping: Mapping[str, str],
    strict: bool = False,
    where: str | None = None,
    in_s3: InS3 | None = None,
    rights: Rights = EVERYTHING,
) -> Listing:
    """List everything below a checkpoint prefix, which may be empty.

    `root` of the listing is the folder that is mapped to the prefix; this user can write to it or create it. If no
    folder is mapped, the objects in S3 are listed, with an empty root; without `in_s3` that is refused. Unlike a
    channel's, the prefix always names a folder: files saved to `s3://b/ckpt` have keys like `ckpt/a`. `member` of the
    request has the prefix.
    """
    uri = s3_form(uri)
    asked = RequestedSource(subject=_SUBJECT, member=member, uri=uri, where=where, directory=directory, rights=rights)
    if in_s3 is not None and uri.startswith("s3://") and longest_match(uri, mapping) is None:
        return _list_objects(asked, in_s3)
    if is_remote(uri):
        bucket_uri, key = split_s3_uri(uri)
        folder = _mapped(asked, mapping)
    else:
        if strict:
            raise source_errors.STRICT_PATH.of(asked)
        folder = cleaned(local_path(uri, directory, rights))
        bucket_uri, key = "file:///", f"{folder[1:]}/" if folder != "/" else ""
    if "\0" in folder or any(len(name) > _LONGEST for name in os.fsencode(folder).split(b"/")):
        raise source_errors.NO_FOLDER.of(asked)
    _check(asked, folder)
    listing = replace(_empty_listing(folder, bucket_uri, key, whole_tree=False), links=rights.links)
    return list_again(listing, member=member, where=where)


def _empty_listing(root: str, bucket_uri: str, key: str, *, whole_tree: bool) -> Listing:
    return Listing(
        root=root,
        bucket_uri=bucket_uri,
        prefix=key,
        key_base=folder_key(key),
        paths=(),
        total_bytes=0,
        whole_tree=whole_tree,
    )


def _list_objects(asked: RequestedSource, in_s3: InS3) -> Listing:
    with s3_listing.as_source_errors(asked, in_s3.caller):
        return list_prefix(in_s3.store(), *split_s3_uri(asked.uri))


def list_prefix(store: ObjectStore, bucket_uri: str, key: str) -> Listing:
    """The objects of a checkpoint prefix in S3; raises `S3Error`."""
    prefix = folder_key(key)

    def objects() -> Iterator[S3Object]:
        found = store.list_objects(bucket_name(bucket_uri), prefix)
        return (each for each in found if not each.key.endswith(UPLOADING))

    found = select_in_s3(objects, bucket_uri=bucket_uri, prefix=prefix, mode="File")
    listing = found or _empty_listing("", bucket_uri, key, whole_tree=True)
    return replace(listing, prefix=key, directories=())


def list_again(listing: Listing, *, member: str = "folder", where: str | None = None) -> Listing:
    """List the folder of a checkpoint prefix again, under the same names."""
    if not os.path.isdir(listing.root):
        return replace(listing, paths=(), total_bytes=0, whole_tree=False)
    rights = EVERYTHING if listing.links else _WITHOUT_LINKS
    found = list_folder(listing.root, subject=_SUBJECT, member=member, directory="/", where=where, rights=rights)
    # Without the partial files of a save that was killed.
    paths = tuple(path for path in found.paths if not path.endswith(UPLOADING))
    return replace(found, bucket_uri=listing.bucket_uri, prefix=listing.prefix, key_base=listing.key_base, paths=paths)


def _mapped(asked: RequestedSource, mapping: Mapping[str, str]) -> str:
    match = longest_match(asked.uri, mapping)
    if match is None:
        raise source_errors.unmapped(asked, *split_s3_uri(asked.uri))
    rest = match.rest.removesuffix("/")
    if rest and any(name in {"", ".", ".."} for name in rest.split("/")):  # it must stay in the mapped folder
        raise source_errors.NO_FOLDER.of(asked)
    return cleaned(local_path(match.value, asked.directory, asked.rights, rest))


def _check(asked: RequestedSource, folder: str) -> None:
    """Check that this user may write to the folder, or to the nearest existing one above it."""
    existing = folder
    while not os.path.lexists(existing):
        existing = os.path.dirname(existing)
    if not os.path.isdir(existing):
        raise source_errors.OCCUPIED.of(asked, path=existing)
    effective = os.access in os.supports_effective_ids
    if not os.access(existing, os.W_OK | os.X_OK, effective_ids=effective):
        raise source_errors.UNWRITABLE.of(asked, path=existing)
