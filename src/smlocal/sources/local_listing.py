"""Lists the local source of a channel."""

import os
import stat
from collections.abc import Mapping, Sequence

from smlocal.contract.listing import Listing
from smlocal.contract.rights import EVERYTHING, Rights
from smlocal.contract.s3_uri import split_s3_uri
from smlocal.quick_dataclass import dataclass
from smlocal.sources import source_errors
from smlocal.sources.copy_reasons import copy_reasons
from smlocal.sources.file_permissions import sizes_and_modes, unreadable
from smlocal.sources.local_path import cleaned, local_path
from smlocal.sources.mapping import is_remote, longest_match
from smlocal.sources.mounts import mount_points
from smlocal.sources.scan import EndlessError, Tree, scan
from smlocal.sources.selection import names_folder
from smlocal.sources.source_errors import Caller, RequestedSource

_LOCAL = "file:///"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Selection:
    """A local folder, and the keys of the files in it."""

    root: str
    bucket_uri: str
    prefix: str
    key_base: str
    names: str = ""
    """Only names at the top of `root` that start with this."""
    single: bool = False
    """Only the file named exactly `names`."""


def list_source(
    uri: str,
    *,
    channel: str,
    directory: str,
    mapping: Mapping[str, str],
    strict: bool = False,
    where: str | None = None,
    region: str,
    role: str,
    rights: Rights = EVERYTHING,
) -> Listing:
    """List what the S3Uri of a channel selects locally.

    A plain path or `file://` URI is a folder or one file. An `s3://` URI is looked up in `mapping`, and is a prefix of
    keys as on the service; the mapped folder has the objects. If all keys are in the folder that the prefix names, they
    lose that folder; otherwise everything after the last `/` of the prefix stays.
    """
    asked = RequestedSource(
        subject=f'channel "{channel}"', member="S3Uri", uri=uri, where=where, directory=directory, rights=rights
    )
    try:
        selection = _mapped(asked, mapping) if is_remote(uri) else _plain(asked, strict=strict)
        listing = _listing(asked, selection) if selection is not None else None
    except EndlessError as error:
        raise source_errors.endless(asked, str(error)) from error
    except OSError as error:
        raise source_errors.broken(asked, error) from error
    if listing is None or not listing.paths:
        if selection is not None and not is_remote(uri):
            raise source_errors.empty_folder(asked, selection.root)
        match = longest_match(asked.uri, mapping)
        raise source_errors.empty(
            asked,
            Caller(region=region, role=role),
            near=_near(asked, mapping),
            written=None if match is None else match.value,
        )
    return listing


def list_object(asked: RequestedSource, *, mapping: Mapping[str, str], strict: bool, caller: Caller) -> Listing:
    """List the one object that an S3Uri names."""
    try:
        selection = _mapped_object(asked, mapping) if is_remote(asked.uri) else _plain(asked, strict=strict)
        if selection is None:
            raise source_errors.empty(asked, caller, near=_near(asked, mapping))
        if not selection.single:
            raise source_errors.not_a_file(asked)
        return _listing(asked, selection)
    except OSError as error:
        raise source_errors.broken(asked, error) from error


def list_folder(
    path: str,
    *,
    subject: str,
    member: str,
    directory: str,
    where: str | None = None,
    rights: Rights = EVERYTHING,
) -> Listing:
    """List a local folder that is not a channel, such as `Local.Code`; it may be empty."""
    asked = RequestedSource(subject=subject, member=member, uri=path, where=where, directory=directory, rights=rights)
    try:
        selection = _plain(asked, strict=False)
        if selection.single:
            raise source_errors.not_a_folder(asked)
        return _listing(asked, selection)
    except EndlessError as error:
        raise source_errors.endless(asked, str(error)) from error
    except OSError as error:
        raise source_errors.broken(asked, error) from error


def _plain(asked: RequestedSource, *, strict: bool) -> _Selection:
    if strict:
        raise source_errors.strict_path(asked)
    path = local_path(asked.uri, asked.directory, asked.rights)
    mode = mode_of(asked, path)
    path = cleaned(path)
    if stat.S_ISDIR(mode):
        key = path[1:] + "/" if path != "/" else ""
        return _Selection(root=path, bucket_uri=_LOCAL, prefix=key, key_base=key)
    if not stat.S_ISREG(mode):
        raise source_errors.not_data(asked)
    return _single(path, path[1:], _LOCAL)


def _single(path: str, key: str, bucket_uri: str) -> _Selection:
    folder, name = os.path.split(path)
    key_base = key[: len(key) - len(name)]
    return _Selection(root=folder, bucket_uri=bucket_uri, prefix=key, key_base=key_base, names=name, single=True)


def _mapped(asked: RequestedSource, mapping: Mapping[str, str]) -> _Selection | None:
    """The local files of an S3 prefix; None if the mapped folder cannot have such keys."""
    bucket_uri, key = split_s3_uri(asked.uri)
    match = longest_match(asked.uri, mapping)
    if match is None:
        raise source_errors.unmapped(asked, bucket_uri, key)
    path = local_path(match.value, asked.directory, asked.rights)
    mode = mode_of(asked, path, match.value)
    path = cleaned(path)
    if stat.S_ISREG(mode) and asked.uri == match.key:
        if key.rpartition("/")[2] != os.path.basename(path):
            raise source_errors.renamed_object(asked, match.value)
        return _single(path, key, bucket_uri)
    if not stat.S_ISDIR(mode):
        return None
    *folders, last = match.rest.split("/")
    if not _plain_names(folders) or "\0" in match.rest:
        return None  # no file below the mapped folder can have such a key
    folder = cleaned(local_path(match.value, asked.directory, asked.rights, "/".join(folders)))
    if not os.path.isdir(folder):
        return None
    if last and _only_folder(folder, last, links=asked.rights.links):
        return _Selection(root=f"{folder}/{last}", bucket_uri=bucket_uri, prefix=key, key_base=f"{key}/")
    key_base = key[: len(key) - len(last)]
    if not last and asked.uri + "/" == match.base:
        key_base = split_s3_uri(match.base)[1]
    return _Selection(root=folder, bucket_uri=bucket_uri, prefix=key, key_base=key_base, names=last)


def _mapped_object(asked: RequestedSource, mapping: Mapping[str, str]) -> _Selection | None:
    """The local file of this key; None if there is none."""
    bucket_uri, key = split_s3_uri(asked.uri)
    match = longest_match(asked.uri, mapping)
    if match is None:
        raise source_errors.unmapped(asked, bucket_uri, key)
    if not match.rest:
        selection = _mapped(asked, mapping)
        return selection if selection is not None and selection.single else None
    mode_of(asked, local_path(match.value, asked.directory, asked.rights), match.value)
    if not _plain_names(match.rest.split("/")):
        return None
    file = local_path(match.value, asked.directory, asked.rights, match.rest)
    if not os.path.isfile(file):
        return None
    return _single(file, key, bucket_uri)


def _plain_names(names: Sequence[str]) -> bool:
    return not any(name in {"", ".", ".."} or "\0" in name for name in names)


def _only_folder(folder: str, name: str, *, links: bool) -> bool:
    """Whether every key that starts with `name` starts with `name/`: then the prefix names a folder."""
    with os.scandir(folder) as entries:
        alike = [entry for entry in entries if entry.name.startswith(name)]
    if not any(entry.name == name and entry.is_dir(follow_symlinks=links) for entry in alike):
        return False
    return len(alike) == 1 or names_folder(name, scan(folder, name, links=links).files)


def _listing(asked: RequestedSource, selection: _Selection) -> Listing:
    root = selection.root
    special = special_devices(asked, root)
    links = asked.rights.links
    single = Tree(files=[selection.names], whole=False)
    tree = single if selection.single else scan(root, selection.names, special, links=links)
    denied = [*tree.unreadable, *unreadable(root, tree.files)]
    if denied:
        raise source_errors.unreadable(asked, [os.path.normpath(f"{root}/{path}") for path in denied])
    total, unlike = sizes_and_modes(root, tree.files)
    return Listing(
        root=root,
        bucket_uri=selection.bucket_uri,
        prefix=selection.prefix,
        key_base=selection.key_base,
        paths=tuple(tree.files),
        total_bytes=total,
        whole_tree=tree.whole,
        directories=tuple(tree.empty_directories),
        copy_reasons=copy_reasons(root, tree.links, tree.skipped) if tree.whole else (),
        skipped=tuple(tree.skipped),
        unlike_service_modes=unlike,
        links=links,
    )


def special_devices(asked: RequestedSource, root: str) -> set[int]:
    """Devices of kernel file systems; refuses a folder on one of them, or with one of them inside."""
    mounts = [mount for mount in mount_points() if not mount.holds_data]
    device = os.stat(root).st_dev
    real = os.path.realpath(root)
    for mount in mounts:
        if mount.device == device:
            raise source_errors.not_a_disk(asked, real, mount.kind)
        if mount.path.startswith(real.rstrip("/") + "/"):
            raise source_errors.not_a_disk(asked, mount.path, mount.kind)
    return {mount.device for mount in mounts}


def mode_of(asked: RequestedSource, path: str, written: str | None = None) -> int:
    """The mode of a path; refuses one that does not exist. `written` is the path in the mapping, if there is one."""
    try:
        return os.stat(path).st_mode
    except PermissionError as error:
        raise source_errors.unreadable(asked, [path]) from error
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:  # ValueError: a NUL in the name
        raise source_errors.missing(asked, written) from error


def _near(asked: RequestedSource, mapping: Mapping[str, str]) -> str | None:
    """A similar prefix that exists below the mapped folder."""
    match = longest_match(asked.uri, mapping) if is_remote(asked.uri) else None
    if match is None or not match.rest:
        return None
    base = local_path(match.value, asked.directory, asked.rights)
    near = source_errors.similar_path(match.rest.rstrip("/"), base)
    return None if near is None else match.base + near
