"""Lists the source of a channel on this machine: a folder, a file, or a file system that is mapped to a folder."""

import os
import stat
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import field

from smlocal.base.files import Opener
from smlocal.base.quick_dataclass import dataclass
from smlocal.data.sources import source_errors
from smlocal.data.sources.local_path import (
    cleaned,
    copy_reasons,
    is_remote,
    local_path,
    longest_match,
    mount_points,
    readable,
    sizes_and_modes,
    unreadable,
)
from smlocal.data.sources.selection import invalid_part, names_folder
from smlocal.data.sources.source_errors import Caller, RequestedSource
from smlocal.terms.listing import Listing, split_s3_uri
from smlocal.terms.rights import EVERYTHING, Rights

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
        raise source_errors.ENDLESS.of(asked, why=error) from error
    except OSError as error:
        raise source_errors.BROKEN.of(asked, why=error.strerror or error) from error
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
            raise source_errors.NOT_A_FILE.of(asked)
        return _listing(asked, selection)
    except OSError as error:
        raise source_errors.BROKEN.of(asked, why=error.strerror or error) from error


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
            raise source_errors.NOT_A_FOLDER.of(asked)
        return _listing(asked, selection)
    except EndlessError as error:
        raise source_errors.ENDLESS.of(asked, why=error) from error
    except OSError as error:
        raise source_errors.BROKEN.of(asked, why=error.strerror or error) from error


def _plain(asked: RequestedSource, *, strict: bool) -> _Selection:
    if strict:
        raise source_errors.STRICT_PATH.of(asked)
    path = local_path(asked.uri, asked.directory, asked.rights)
    mode = mode_of(asked, path)
    path = cleaned(path)
    if stat.S_ISDIR(mode):
        key = path[1:] + "/" if path != "/" else ""
        return _Selection(root=path, bucket_uri=_LOCAL, prefix=key, key_base=key)
    if not stat.S_ISREG(mode):
        raise source_errors.NOT_DATA.of(asked)
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
            raise source_errors.RENAMED_OBJECT.of(asked, path=match.value)
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
    single = FolderListing(files=[selection.names], whole=False)
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
            raise source_errors.NOT_A_DISK.of(asked, path=real, why=mount.kind)
        if mount.path.startswith(real.rstrip("/") + "/"):
            raise source_errors.NOT_A_DISK.of(asked, path=mount.path, why=mount.kind)
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


# Finds all files below a folder, as an upload would.

_KINDS = (
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISLNK, "a link, which this job does not follow"),
)


_MOST_REPEATS = 10_000
_MOST_LINKED = 10_000_000


class EndlessError(Exception):
    """The links of a folder lead to too many files; the text says which."""


@dataclass(kw_only=True, slots=True)
class FolderListing:
    """The result, as paths below the folder."""

    files: list[str] = field(default_factory=list)
    """In the byte order of their UTF-8 keys."""
    empty_directories: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    whole: bool = True
    """False if names at the top were left out because of the prefix."""
    linked: set[tuple[int, int]] = field(default_factory=set)
    """Folders that links lead to."""
    repeats: int = 0
    """How many more links lead to one of these: nested links multiply."""


def scan(
    root: str, name_prefix: str = "", special: AbstractSet[int] = frozenset(), *, links: bool = True
) -> FolderListing:
    """Scan the folder `root`; at the top only names that start with `name_prefix`.

    Links must not lead to the devices `special`. `EndlessError` if links lead to too many files. Without `links` they
    are skipped, and a folder that has become one is not entered.
    """
    tree = FolderListing()
    pending = [""]
    opener = None if links else Opener(root)
    while pending:
        below = pending.pop()
        try:
            with _scandir(root, below, opener) as entries:
                found = _chosen(entries, name_prefix, tree) if name_prefix and not below else entries
                empty = True
                for entry in found:
                    empty = False
                    # The type is in the directory entry: no system call for a file or a folder.
                    if entry.is_file(follow_symlinks=False):
                        tree.files.append(below + entry.name)
                    elif entry.is_dir(follow_symlinks=False):
                        pending.append(f"{below}{entry.name}/")
                    elif entry.is_symlink() and links:
                        _follow(root, below + entry.name, tree, pending, special)
                    else:
                        _skip(tree, below + entry.name, entry.stat(follow_symlinks=False).st_mode)
        except PermissionError:
            tree.unreadable.append(below or ".")
            continue
        if tree.repeats and len(tree.files) > _MOST_LINKED:
            raise EndlessError(f"its links expand to more than {_MOST_LINKED:,} files")
        if empty and below:
            tree.empty_directories.append(below[:-1])
    sort_by_key(tree.files)
    for names in (tree.empty_directories, tree.links, tree.skipped, tree.unreadable):
        names.sort()
    return tree


def _scandir(root: str, below: str, opener: Opener | None) -> "os._ScandirIterator[str]":
    if opener is None:
        return os.scandir(f"{root}/{below}")
    return os.scandir(opener.directory(os.fsencode(below.rstrip("/"))))


def sort_by_key(paths: list[str]) -> None:
    """Sort by UTF-8 bytes, as S3 does: the order of code points, unless a name is not UTF-8."""
    joined = "".join(paths)
    if not joined.isascii():
        try:
            joined.encode()
        except UnicodeEncodeError:
            paths.sort(key=os.fsencode)
            return
    paths.sort()


def _chosen(entries: "os._ScandirIterator[str]", name_prefix: str, tree: FolderListing) -> list[os.DirEntry[str]]:
    found = list(entries)
    chosen = [entry for entry in found if entry.name.startswith(name_prefix)]
    tree.whole = len(chosen) == len(found)
    return chosen


def _follow(root: str, path: str, tree: FolderListing, pending: list[str], special: AbstractSet[int]) -> None:
    """Treat a link as its target."""
    tree.links.append(path)
    try:
        target = os.stat(f"{root}/{path}")
    except PermissionError:
        tree.unreadable.append(path)
        return
    except OSError:
        tree.skipped.append(f"{path} is a broken link")
        return
    if stat.S_ISREG(target.st_mode):
        tree.files.append(path)
    elif not stat.S_ISDIR(target.st_mode):
        _skip(tree, path, target.st_mode)
    elif target.st_dev in special:
        raise EndlessError(f"{path} is a link into a kernel file system, which contains no data")
    elif (target.st_dev, target.st_ino) in _folders_above(root, path):
        tree.skipped.append(f"{path} is a link to a folder that contains it")
    else:
        identity = target.st_dev, target.st_ino
        tree.repeats += identity in tree.linked
        if tree.repeats > _MOST_REPEATS:
            raise EndlessError(f"its links lead to the same folders more than {_MOST_REPEATS:,} times")
        tree.linked.add(identity)
        pending.append(f"{path}/")


def _folders_above(root: str, path: str) -> set[tuple[int, int]]:
    parts = path.split("/")[:-1]
    folders = [root, *("/".join([root, *parts[: depth + 1]]) for depth in range(len(parts)))]
    return {(status.st_dev, status.st_ino) for status in map(os.stat, folders)}


def _skip(tree: FolderListing, path: str, mode: int) -> None:
    kind = next((words for is_kind, words in _KINDS if is_kind(mode)), "not a regular file")
    tree.skipped.append(f"{path} is {kind}")


# A file system of EFS or FSx, mapped to a local folder.


def locate_file_system(system: RequestedSource, asked: RequestedSource, *, mapping: Mapping[str, str]) -> str:
    """Find the folder that is `asked` for below the folder that `Local.Sources` maps to the file system.

    `..` cannot lead out of the folder. Links may, if they are the user's own (`Rights`).
    """
    if system.uri not in mapping:
        raise source_errors.unmapped_file_system(system, mapping)
    written = mapping[system.uri]
    base = local_path(written, system.directory, system.rights)
    if not os.path.lexists(base):
        raise source_errors.missing(system, written)
    below = "/".join(part for part in asked.uri.split("/") if part)
    if below and invalid_part(below) is not None:
        raise source_errors.NO_FOLDER.of(asked)
    folder = cleaned(local_path(written, system.directory, system.rights, below))
    if not os.path.lexists(folder):
        raise source_errors.missing(asked, folder)
    if not os.path.isdir(folder):
        raise source_errors.NOT_A_FOLDER.of(asked)
    if not readable(folder):
        raise source_errors.unreadable(asked, [folder])
    return folder
