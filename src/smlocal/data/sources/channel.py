"""The selection of one channel: the objects, their paths below the channel, and their order."""

from collections.abc import Callable, Mapping

from smlocal.base.quick_dataclass import dataclass
from smlocal.data.sources import local_listing, s3_listing, source_errors
from smlocal.data.sources.local_path import is_remote, longest_match
from smlocal.data.sources.manifest import list_manifest
from smlocal.data.sources.s3.interface import ObjectStore
from smlocal.data.sources.selection import check_local_paths
from smlocal.data.sources.source_errors import Caller, RequestedSource
from smlocal.terms.listing import Listing
from smlocal.terms.rights import EVERYTHING, Rights
from smlocal.terms.s3_uri import s3_form, split_s3_uri


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
