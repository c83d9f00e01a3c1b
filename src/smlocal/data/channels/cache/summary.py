"""The cache of downloads for people: its content, its users, and the removed downloads."""

import os
from collections.abc import Sequence
from fnmatch import fnmatchcase

from smlocal.base.quick_dataclass import dataclass
from smlocal.data.channels.cache.eviction import bytes_held, jobs_by_tree, remove_trees
from smlocal.data.channels.cache.folder import Cache, list_trees
from smlocal.errors import CacheInUseError, UsageRefusedError
from smlocal.jobs.store.home import home_unusable


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
