"""What the cache holds, its size and users, and eviction: least recently used first, never a tree in use."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from errno import EACCES
from fnmatch import fnmatchcase
from operator import attrgetter

from smlocal.base.files import free_bytes
from smlocal.base.quick_dataclass import dataclass
from smlocal.data.channels.cache.folder import Cache, CachedTree, list_trees
from smlocal.errors import CacheInUseError, UsageRefusedError
from smlocal.jobs.store.home import home_unusable

_RESERVED = "reserved"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Blob:
    path: str
    inode: int
    size: int
    last_used: float
    """For a blob without links: when the last one was removed."""
    linked: bool


def bytes_held(cache: "Cache") -> int:
    """Bytes of everything in the cache, with the space that running downloads have reserved."""
    blobs = sum(blob.size for blob in _blobs(cache))
    copied = sum(tree.info.copied for tree in list_trees(cache) if tree.info is not None)
    return blobs + copied + sum(_reserved(cache))


def reserve_space(cache: "Cache", folder: str, count: int) -> bool:
    """Free `count` bytes and reserve them while `folder` exists; False if there is not enough room."""
    with cache.locked():
        if not _make_room(cache, count):
            return False
        with open(os.path.join(folder, _RESERVED), "w", encoding="ascii") as file:
            file.write(str(count))
    return True


def remove_trees(cache: "Cache", names: Collection[str]) -> Mapping[str, list[str]]:
    """Remove these trees and all blobs without links; returns the trees that are in use, with their users."""
    with cache.locked():
        used = jobs_by_tree(cache.home)
        for name in names:
            if name not in used:
                cache.discard(cache.tree(name))
                if os.path.lexists(cache.tree(name)):
                    raise PermissionError(EACCES, os.strerror(EACCES), cache.tree(name))
        for blob in _blobs(cache):
            if not blob.linked:
                _remove(blob)
    return {name: used[name] for name in names if name in used}


def _make_room(cache: "Cache", count: int) -> bool:
    over = _lacking(cache, bytes_held(cache), count)
    if over <= 0:
        return True
    used, trees = jobs_by_tree(cache.home), list_trees(cache)
    pinned = sum(tree.info.bytes for tree in trees if tree.info is not None and tree.name in used)
    if pinned + sum(_reserved(cache)) + count > cache.limit:
        return False  # even if everything else were evicted
    blobs = {blob.inode: blob for blob in _blobs(cache)}
    idle: list[CachedTree | _Blob] = [tree for tree in trees if tree.name not in used]
    idle += [blob for blob in blobs.values() if not blob.linked]
    for victim in sorted(idle, key=attrgetter("last_used")):
        if over <= 0:
            break
        if isinstance(victim, _Blob):
            over -= _remove(victim)
            continue
        inodes = _inodes(cache.tree(victim.name))
        cache.discard(cache.tree(victim.name))
        over -= victim.info.copied if victim.info is not None else 0
        for blob in (blobs[inode] for inode in inodes if inode in blobs):
            if over > 0 and _unlinked(blob):
                over -= _remove(blob)
    return over <= 0


def _lacking(cache: "Cache", held: int, count: int) -> int:
    """How many bytes must be freed to add `count`, for the limit and for the disk."""
    free = free_bytes(cache.root)
    return max(held + count - cache.limit, 0 if free is None else count - free)


def _remove(blob: _Blob) -> int:
    try:
        os.unlink(blob.path)
    except FileNotFoundError:
        return 0
    return blob.size


def _unlinked(blob: _Blob) -> bool:
    try:
        return os.lstat(blob.path).st_nlink == 1
    except FileNotFoundError:
        return False


def _inodes(folder: str) -> list[int]:
    return [entry.inode() for below, _, _ in os.walk(folder) for entry in _entries(below)]


def _blobs(cache: "Cache") -> Iterator[_Blob]:
    for folder in _entries(cache.blobs):
        for blob in _entries(folder.path):
            with suppress(FileNotFoundError):
                status = blob.stat(follow_symlinks=False)
                yield _Blob(
                    path=blob.path,
                    inode=status.st_ino,
                    size=status.st_size,
                    last_used=status.st_ctime,  # changed when a link is removed
                    linked=status.st_nlink > 1,
                )


def _reserved(cache: "Cache") -> Iterator[int]:
    for folder in _entries(cache.partial):
        with suppress(OSError, ValueError), open(os.path.join(folder.path, _RESERVED), encoding="ascii") as file:
            yield int(file.read())


def _entries(folder: str) -> "list[os.DirEntry[str]]":
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return []


# Which jobs use which tree: a marker file named after the tree in the job's folder, removed with the job.

MARKERS = os.path.join("staged", "cache")
"""The folder of a job's markers, below the job's folder."""


def mark(directory: str, tree: str) -> bool:
    """Note that the job uses the tree; False if that was noted before."""
    os.makedirs(directory, mode=0o700, exist_ok=True)
    try:
        os.close(os.open(os.path.join(directory, tree), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return False
    return True


def unmark(directory: str, tree: str) -> None:
    """The job does not use the tree."""
    with suppress(FileNotFoundError):
        os.unlink(os.path.join(directory, tree))


def jobs_by_tree(home: str) -> Mapping[str, list[str]]:
    """The names of the jobs that use each tree, and of the shells in new containers."""
    found: dict[str, list[str]] = {}
    for folder, named in (("jobs", "{}"), ("shells", "shell {}")):
        for each in _names(os.path.join(home, folder)):
            for tree in _names(os.path.join(home, folder, each, MARKERS)):
                found.setdefault(tree, []).append(named.format(each))
    return found


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []


@dataclass(frozen=True, kw_only=True, slots=True)
class Download:
    """The data that one or several jobs read as one channel."""

    name: str
    uri: str
    """Empty where it is damaged: it will be thrown away."""
    endpoint: str
    objects: int
    bytes: int
    last_used: float
    jobs: tuple[str, ...]
    """The jobs that use it now, and `shell ID` for each shell in a new container."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Contents:
    """The whole cache."""

    directory: str
    downloads: tuple[Download, ...]
    """The last used first."""
    bytes: int
    """Its size on disk; contents that several downloads share count once."""
    limit: int
    """Unless a job says otherwise."""


def contents(home: str) -> Contents:
    """The content of the cache; nothing is made or changed."""
    cache = Cache(home=home)
    try:
        downloads, held = _downloads(cache), bytes_held(cache)
    except OSError as error:
        raise home_unusable(home, error) from error
    return Contents(directory=cache.root, downloads=downloads, bytes=held, limit=cache.limit)


def remove(home: str, patterns: Sequence[str] | None) -> tuple[Download, ...]:
    """Remove what the patterns name, without patterns everything; returns what went.

    Downloads that a job uses stay, and are told by `CacheInUseError` when the rest has gone.
    """
    cache = Cache(home=home)
    if not os.path.isdir(cache.root):
        _none_matches(patterns, ())
        return ()
    try:
        cache.prepare()
        there = _downloads(cache)
        _none_matches(patterns, there)
        chosen = {each.name: each for each in there if patterns is None or any(_matches(each, p) for p in patterns)}
        kept = remove_trees(cache, tuple(chosen))
        cache.sweep()
    except OSError as error:
        raise home_unusable(home, error) from error
    if kept:
        others = len(chosen) - len(kept)
        raise CacheInUseError(
            f"{len(kept)} of {len(chosen)} downloads are kept, because running jobs use them"
            if others
            else "all of the cache is in use",
            details=[f"{chosen[name].uri or name}: {', '.join(jobs)}" for name, jobs in kept.items()],
            remedy=[
                "Wait for the job, or stop it with smlocal stop JOB. Leave the shell.",
                "smlocal recover ends what was killed.",
            ],
        )
    return tuple(chosen.values())


def _downloads(cache: Cache) -> tuple[Download, ...]:
    used = jobs_by_tree(cache.home)
    found = []
    for tree in reversed(list_trees(cache)):
        info = tree.info
        found.append(
            Download(
                name=tree.name,
                uri="" if info is None else info.uri,
                endpoint="" if info is None else info.endpoint,
                objects=0 if info is None else info.objects,
                bytes=0 if info is None else info.bytes,
                last_used=tree.last_used,
                jobs=tuple(used.get(tree.name, ())),
            )
        )
    return tuple(found)


def _matches(download: Download, pattern: str) -> bool:
    """A pattern of the shell, or a prefix up to a `/`."""
    return fnmatchcase(download.uri, pattern) or f"{download.uri}/".startswith(f"{pattern.rstrip('/')}/")


def _none_matches(patterns: Sequence[str] | None, there: Sequence[Download]) -> None:
    """A pattern that names nothing is a mistake, most likely in its spelling."""
    for pattern in patterns or ():
        if not any(_matches(each, pattern) for each in there):
            raise UsageRefusedError(
                f"nothing in the cache matches {pattern}", remedy=["Run smlocal cache ls to list the cache."]
            )
