"""The objects of a bucket in the order of S3: by the bytes of their keys."""

import os
from collections.abc import Generator, Iterator

from smlocal.no_links import FOLDER
from smlocal.quick_dataclass import dataclass
from smlocal.server.objects.bucket_folder import BucketFolder, marker_state


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """An object."""

    key: str
    state: os.stat_result
    modified: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """A part of a listing."""

    objects: list[Found]
    prefixes: list[str]
    last: str | None
    """The last key or prefix of the page if there are more; else None."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Wanted:
    prefix: bytes
    after: bytes
    folded: bool
    """True if what is in folders below the prefix is only one common prefix each."""


def page(bucket: BucketFolder, *, prefix: str, delimiter: str, after: str, most: int) -> Page:
    """What comes after a key or a common prefix, at most `most` of both together."""
    objects: list[Found] = []
    prefixes: list[str] = []
    last = after
    skipped = delimiter and after.startswith(prefix) and after.endswith(delimiter) and after != prefix
    for found in walk(bucket, prefix=prefix, after=after, folded=delimiter == "/"):
        key = found.key
        if skipped and key.startswith(after):
            continue  # of the common prefix that the last page ended with
        at = key.find(delimiter, len(prefix)) if delimiter else -1
        common = key[: at + len(delimiter)] if at >= 0 else None
        if common is not None and prefixes and prefixes[-1] == common:
            continue
        if len(objects) + len(prefixes) >= most:
            return Page(objects=objects, prefixes=prefixes, last=last)
        if common is None:
            objects.append(found)
        else:
            prefixes.append(common)
        last = common or key
    return Page(objects=objects, prefixes=prefixes, last=None)


def walk(bucket: BucketFolder, *, prefix: str = "", after: str = "", folded: bool = False) -> Iterator[Found]:
    """Objects that begin with `prefix` and come after `after`. With `folded`, at least one below each folder."""
    wanted = _Wanted(prefix=prefix.encode(), after=after.encode(), folded=folded)
    with bucket.folder(()) as descriptor:
        yield from _folder(bucket, descriptor, b"", wanted)


def _folder(bucket: BucketFolder, descriptor: int, inside: bytes, wanted: _Wanted) -> Iterator[Found]:
    with os.scandir(descriptor) as scanned:
        entries = [(inside + os.fsencode(each.name) + (b"/" if _is_folder(each) else b""), each) for each in scanned]
    for key, entry in sorted(entries, key=lambda entry: entry[0]):
        if not _may_have(key, wanted):
            continue
        try:
            name = key.decode()
            state = entry.stat(follow_symlinks=False)
        except (UnicodeDecodeError, FileNotFoundError):
            continue  # no key; removed since
        if not key.endswith(b"/"):
            if entry.is_file(follow_symlinks=False):
                yield Found(key=name, state=state, modified=state.st_mtime)
            continue
        below = _below(bucket, descriptor, key, state, wanted)
        if wanted.folded and len(key) > len(wanted.prefix):
            first = next(below, None)
            below.close()
            if first is not None:
                yield first
        else:
            yield from below


def _below(
    bucket: BucketFolder, parent: int, key: bytes, state: os.stat_result, wanted: _Wanted
) -> Generator[Found, None, None]:
    """The object that a folder is itself, and those in it."""
    if key.startswith(wanted.prefix) and key > wanted.after and bucket.is_marker(key.decode(), state):
        yield Found(key=key.decode(), state=marker_state(state), modified=state.st_mtime)
    try:
        descriptor = os.open(os.path.basename(key[:-1]), FOLDER, dir_fd=parent)
    except (FileNotFoundError, NotADirectoryError):
        return
    try:
        yield from _folder(bucket, descriptor, key, wanted)
    finally:
        os.close(descriptor)


def _may_have(key: bytes, wanted: _Wanted) -> bool:
    """True if the file, or a file in the folder, may be wanted."""
    if not key.endswith(b"/"):
        return key.startswith(wanted.prefix) and key > wanted.after
    if not (key.startswith(wanted.prefix) or wanted.prefix.startswith(key)):
        return False
    return key > wanted.after or wanted.after.startswith(key)


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    return entry.is_dir(follow_symlinks=False)
