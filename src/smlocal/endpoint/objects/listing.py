"""The objects of a bucket in the order of S3: by the bytes of their keys."""

import os
import stat as modes
from collections.abc import Iterator

from smlocal.base.files import FOLDER
from smlocal.base.quick_dataclass import dataclass
from smlocal.endpoint.objects.bucket_folder import MOST_KEY, Bucket, marker_state

_MOST_OPEN = 16
"""Folders of one listing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundObject:
    """An object."""

    key: str
    state: os.stat_result
    modified: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """A part of a listing."""

    objects: list[FoundObject]
    prefixes: list[str]
    last: str | None
    """The last key or prefix of the page if there are more; else None."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Wanted:
    prefix: bytes
    after: bytes
    folded: bool
    """True if keys in folders below the prefix are only one common prefix each."""


def page(bucket: Bucket, *, prefix: str, delimiter: str, after: str, most: int) -> Page:
    """The keys after a key or a common prefix, at most `most` of both together."""
    objects: list[FoundObject] = []
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


def walk(bucket: Bucket, *, prefix: str = "", after: str = "", folded: bool = False) -> Iterator[FoundObject]:
    """Objects that begin with `prefix` and come after `after`. With `folded`, at least one below each folder."""
    walking = _Walk(bucket, _Wanted(prefix=prefix.encode(), after=after.encode(), folded=folded))
    try:
        while walking.levels:
            found = walking.step()
            if found is not None:
                yield found
    finally:
        walking.close()


class _Walk:
    """Goes through the folders in a loop: a key may have 512, and Python does not allow that many nested calls."""

    def __init__(self, bucket: Bucket, wanted: _Wanted) -> None:
        """At the folder of the bucket."""
        self._bucket = bucket
        self._wanted = wanted
        self._fold: int | None = None
        """So many levels stay when an object is found: it is one below a folder of which one is enough."""
        self.levels: list[_Level] = []
        self.levels.append(_Level(bucket, _open(bucket, None, b""), b"", wanted))

    def step(self) -> FoundObject | None:
        """Look at the next file or folder."""
        level = self.levels[-1]
        key = next(level.keys, None)
        if key is None:
            self._leave(len(self.levels) - 1)
            return None
        state = level.state(key)
        if state is None:
            return None
        if not key.endswith(b"/"):
            return self._take(_object(key, state))
        if self._wanted.folded and self._fold is None and len(key) > len(self._wanted.prefix):
            self._fold = len(self.levels)
        folding, found = self._fold is not None, self._take(_marker(self._bucket, key, state, self._wanted))
        if found is None or not folding:
            self._enter(level, key)
        return found

    def close(self) -> None:
        """Before the end, too."""
        self._leave(0)

    def _take(self, found: FoundObject | None) -> FoundObject | None:
        if found is not None and self._fold is not None:
            self._leave(self._fold)
        return found

    def _leave(self, stay: int) -> None:
        while len(self.levels) > stay:
            self.levels.pop().close()
        if self._fold is not None and stay <= self._fold:
            self._fold = None

    def _enter(self, level: "_Level", key: bytes) -> None:
        descriptor = level.open(key)
        if descriptor is None:
            self._leave(len(self.levels))
            return
        self.levels.append(_Level(self._bucket, descriptor, key, self._wanted))
        if len(self.levels) > _MOST_OPEN:
            self.levels[-_MOST_OPEN - 1].close()


class _Level:
    """A folder whose files and folders are being listed."""

    def __init__(self, bucket: Bucket, descriptor: int, inside: bytes, wanted: _Wanted) -> None:
        """`inside` is its key, or empty. It is closed at the end."""
        self._bucket = bucket
        self._inside = inside
        self._descriptor: int | None = descriptor
        with os.scandir(descriptor) as scanned:
            keys = [inside + os.fsencode(each.name) + (b"/" if _is_folder(each) else b"") for each in scanned]
        self.keys = iter(sorted(key for key in keys if _may_have(key, wanted)))

    def state(self, key: bytes) -> os.stat_result | None:
        """The state of a file or folder in it; None if there is no such object."""
        if _text(key) is None or not self._is_open():
            return None
        try:
            return os.stat(_name(key), dir_fd=self._descriptor, follow_symlinks=False)
        except FileNotFoundError:  # removed since
            return None

    def open(self, key: bytes) -> int | None:
        """An open folder in it; None if there is none any more."""
        return _open_or_none(self._bucket, self._descriptor, key)

    def close(self) -> None:
        """It is opened again if it is needed: a process cannot have hundreds of folders open."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _is_open(self) -> bool:
        if self._descriptor is None:
            self._descriptor = _open_or_none(self._bucket, None, self._inside)
        return self._descriptor is not None


def _open_or_none(bucket: Bucket, parent: int | None, key: bytes) -> int | None:
    try:
        return _open(bucket, parent, key)
    except (FileNotFoundError, NotADirectoryError):  # removed, or replaced, since
        return None


def _open(bucket: Bucket, parent: int | None, key: bytes) -> int:
    if parent is not None:
        return os.open(_name(key), FOLDER, dir_fd=parent)
    with bucket.folder(key.decode().split("/")[:-1]) as descriptor:
        return os.dup(descriptor)


def _object(key: bytes, state: os.stat_result) -> FoundObject | None:
    return FoundObject(key=key.decode(), state=state, modified=state.st_mtime) if modes.S_ISREG(state.st_mode) else None


def _marker(bucket: Bucket, key: bytes, state: os.stat_result, wanted: _Wanted) -> FoundObject | None:
    """The object that a folder is itself."""
    if not (key.startswith(wanted.prefix) and key > wanted.after and bucket.is_marker(key.decode(), state)):
        return None
    return FoundObject(key=key.decode(), state=marker_state(state), modified=state.st_mtime)


def _name(key: bytes) -> bytes:
    return os.path.basename(key.rstrip(b"/"))


def _text(key: bytes) -> str | None:
    try:
        return key.decode()
    except UnicodeDecodeError:  # no key
        return None


def _may_have(key: bytes, wanted: _Wanted) -> bool:
    """True if the file, or a file in the folder, may be wanted."""
    if len(key) > MOST_KEY:
        return False
    if not key.endswith(b"/"):
        return key.startswith(wanted.prefix) and key > wanted.after
    if not (key.startswith(wanted.prefix) or wanted.prefix.startswith(key)):
        return False
    return key > wanted.after or wanted.after.startswith(key)


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    return entry.is_dir(follow_symlinks=False)
