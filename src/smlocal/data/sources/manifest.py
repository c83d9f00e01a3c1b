"""`ManifestFile`: the objects that a JSON document names, local or in S3."""

import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from smlocal.base.files import Opener
from smlocal.base.quick_dataclass import dataclass
from smlocal.data.sources import s3_listing, selection, source_errors
from smlocal.data.sources.local_listing import mode_of, special_devices
from smlocal.data.sources.local_path import (
    SERVICE_MODE,
    cleaned,
    is_remote,
    local_path,
    longest_match,
    open_listed,
    readable,
)
from smlocal.data.sources.manifest_json import ManifestError, manifest_strings
from smlocal.data.sources.s3.error_responses import checksum_mismatch, download_failure
from smlocal.data.sources.s3.interface import Checksum, ObjectStore, S3Error, listed_object
from smlocal.data.sources.selection import invalid_part, is_marker, lay_out, split_prefix
from smlocal.data.sources.source_errors import RequestedSource
from smlocal.terms.listing import Listing, s3_form, split_s3_uri

_PIECE = 1 << 20


@dataclass(frozen=True, kw_only=True, slots=True)
class _Prefix:
    """The prefix that is put before every entry."""

    bucket_uri: str
    key: str
    bare: bool = False
    """A bucket without a `/`: every entry must begin with one."""


def list_manifest(
    asked: RequestedSource,
    document: Listing,
    *,
    mode: str,
    mapping: Mapping[str, str],
    strict: bool,
    store: Callable[[], ObjectStore],
) -> Listing:
    """List what the one object of `document` names.

    Local files must exist. Objects in S3 are checked when they are fetched; their sizes are not known.
    """
    try:
        strings = manifest_strings(_pieces(document, store))
        prefix = _prefix(asked, document, next(strings), strict=strict)
        names = tuple(_after_bucket(strings) if prefix.bare else strings)
        if not names:
            return _invalid(document, "names no object")
        return _listing(asked, prefix, names, mode=mode, mapping=mapping)
    except ManifestError as error:
        return _invalid(document, str(error))
    except S3Error as error:
        return _not_read(asked, document, error)
    except OSError as error:
        raise source_errors.BROKEN.of(asked, why=error.strerror or error) from error


def _invalid(document: Listing, text: str) -> Listing:
    return document.failed(f"Failed to download data. Manifest file: {document.uri_at(0)} {text}")


def _pieces(document: Listing, store: Callable[[], ObjectStore]) -> Iterator[bytes]:
    if not document.remote:
        with open(open_listed(document, 0), "rb") as file:
            while piece := file.read(_PIECE):
                yield piece
        return
    wanted, client = listed_object(document, 0), store()
    buffer = memoryview(bytearray(_PIECE))
    size = wanted.size or 0
    checksum = client.checksum(wanted) if size > _PIECE else Checksum(None)
    for start in range(0, size, _PIECE):
        count = client.read_into(wanted, start, buffer)
        checksum.update(buffer[:count])
        yield bytes(buffer[:count])
    if not checksum.matches:
        raise checksum_mismatch(wanted.uri)


def _not_read(asked: RequestedSource, document: Listing, error: S3Error) -> Listing:
    not_ready = s3_listing.machine_error(asked, error)
    if not_ready is not None:
        raise not_ready from error
    return document.failed(download_failure(error))


def _prefix(asked: RequestedSource, document: Listing, text: str, *, strict: bool) -> _Prefix:
    uri = s3_form(text)
    if uri.startswith("s3://"):
        bucket_uri, key = split_s3_uri(uri)
        if bucket_uri == "s3:///":
            raise ManifestError(f"has a prefix that is not an S3 URI: {text}")
        return _Prefix(bucket_uri=bucket_uri, key=key, bare=uri == bucket_uri[:-1])
    if is_remote(text) or document.remote:
        raise ManifestError(f"has a prefix that is not an S3 URI: {text}")
    if strict:
        raise source_errors.STRICT_PATH.of(replace(asked, member="prefix", uri=text))
    folder, last = split_prefix(text)
    path = cleaned(local_path(folder, document.root, asked.rights))
    return _Prefix(bucket_uri="file:///", key=f"{path}/{last}".lstrip("/"))


def _after_bucket(names: Iterator[str]) -> Iterator[str]:
    for number, name in enumerate(names, 2):
        if not name.startswith("/"):
            raise ManifestError(f"has a prefix that ends with its bucket, and no '/' before its element {number}")
        yield name[1:]


def _listing(
    asked: RequestedSource, prefix: _Prefix, names: Sequence[str], *, mode: str, mapping: Mapping[str, str]
) -> Listing:
    """Files are made once for an object that is named twice; a pipe sends it twice."""
    bucket_uri = prefix.bucket_uri
    if mode != "Pipe":
        names = tuple(dict.fromkeys(names))
    # An empty entry names the prefix itself.
    folders = [name for name in names if is_marker(name or prefix.key, None)]
    if folders:
        names = tuple([name for name in names if not is_marker(name or prefix.key, None)])
    base, paths, keys = lay_out(prefix.key, names)
    listing = Listing(
        root="",
        bucket_uri=bucket_uri,
        prefix=prefix.key,
        key_base=base,
        paths=paths,
        keys=keys,
        total_bytes=None,
        whole_tree=True,
    )
    if mode != "Pipe":
        directories = tuple(path for name in dict.fromkeys(folders) if (path := name[:-1].removeprefix("/")))
        listing = replace(listing, directories=directories)
        doubled = next((key for name in chain(folders, names) if "//" in (key := prefix.key + name)), None)
        failure = (
            selection.double_slash(bucket_uri + doubled)
            if doubled is not None
            else selection.first_invalid_key(bucket_uri, base, paths, keys, directories)
        )
        if failure is not None:
            return listing.failed(failure)
    return with_local_files(asked, listing, mapping)


# Local files for the objects that a manifest names.

_NO_SUCH_KEY = "NoSuchKey: The specified key does not exist."


def with_local_files(asked: RequestedSource, listing: Listing, mapping: Mapping[str, str]) -> Listing:
    """The listing with the local folder that is mapped to its prefix, if there is one."""
    folder_key = split_prefix(listing.key_base)[0]
    if listing.bucket_uri == "file:///":
        root = local_path(f"/{folder_key}", "/", asked.rights).rstrip("/") or "/"
    else:
        match = longest_match(f"{listing.bucket_uri}{folder_key}", mapping)
        if match is None:
            return listing
        if match.rest and invalid_part(match.rest.removesuffix("/")) is not None:
            return _missing(listing, 0) if listing.paths else listing
        mode_of(asked, local_path(match.value, asked.directory, asked.rights), match.value)
        root = cleaned(local_path(match.value, asked.directory, asked.rights, match.rest))
    local = replace(
        listing,
        root=root,
        root_key=folder_key if listing.keys or folder_key != listing.key_base else None,
        whole_tree=False,
        links=asked.rights.links,
    )
    if os.path.isdir(root):
        special_devices(asked, root)
    return _checked(asked, local)


def _checked(asked: RequestedSource, listing: Listing) -> Listing:
    """Check that every file exists and that this user may read it."""
    total = unlike = 0
    denied = []
    below = len(split_prefix(listing.key_base)[0])
    opener = None if listing.links else Opener(listing.root)
    for index in range(len(listing.paths)):
        if invalid_part(listing.key(index)[below:]) is not None:
            return _missing(listing, index)  # no file below the folder can have such a key
        file = listing.file(index)
        try:
            status = os.stat(file) if opener is None else _status(opener, listing.below_root(index))
        except PermissionError:
            denied.append(file)
            continue
        except OSError:
            return _missing(listing, index)
        if not stat.S_ISREG(status.st_mode):
            return _missing(listing, index)
        if not readable(file):
            denied.append(file)
        total += status.st_size
        unlike += stat.S_IMODE(status.st_mode) != SERVICE_MODE
    if denied:
        raise source_errors.unreadable(asked, denied)
    return replace(listing, total_bytes=total, unlike_service_modes=unlike)


def _status(opener: Opener, path: str) -> os.stat_result:
    """The status of a file whose path has no links; `OSError` otherwise."""
    descriptor = opener.file(os.fsencode(path))
    try:
        return os.fstat(descriptor)
    finally:
        os.close(descriptor)


def _missing(listing: Listing, index: int) -> Listing:
    return listing.failed(f"Unable to download object {listing.uri_at(index)} ({_NO_SUCH_KEY})")
