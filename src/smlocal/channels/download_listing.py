"""Prepares a listing for download: every path once, checked, with sizes and ETags."""

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, TypeVar

from smlocal.contract.listing import Listing
from smlocal.errors import StagingError
from smlocal.sources.s3.interface import S3Object

if TYPE_CHECKING:
    from smlocal.sources.s3.client import S3Client

_T = TypeVar("_T")
_THREADS = 16
_LONGEST_NAME = 255
"""Bytes of a file name, on every common file system."""
_SHORT = _LONGEST_NAME // 4
_INVALID_NAME = re.compile(r"(?:^|[/\0])\.{0,2}(?:[/\0]|\Z)")
"""An empty name, `.` or `..`, in one path or in many that are joined by NUL."""


def without_duplicates(listing: Listing) -> Listing:
    """The listing with every path once; a manifest may name an object many times."""
    if len(set(listing.paths)) == len(listing.paths):
        return listing
    first: dict[str, int] = {}
    for index, path in enumerate(listing.paths):
        first.setdefault(path, index)
    kept = list(first.values())
    sizes = _picked(listing.sizes, kept)
    return replace(
        listing,
        paths=list(first),
        keys=_picked(listing.keys, kept),
        sizes=sizes,
        etags=_picked(listing.etags, kept),
        total_bytes=sum(sizes) if sizes else None,
    )


def _picked(column: Sequence[_T], kept: Sequence[int]) -> Sequence[_T]:
    return [column[index] for index in kept] if column else ()


def check_paths(listing: Listing) -> None:
    """Refuse paths that cannot be files below the channel's folder, before anything is downloaded."""
    if not _problem((*listing.paths, *listing.directories)):
        return
    for index, path in enumerate(listing.paths):
        if why := _problem((path,)):
            raise _invalid(f"{listing.bucket_uri}{listing.key(index)}", why)
    for path in listing.directories:
        if why := _problem((path,)):
            raise _invalid(f"{listing.bucket_uri}{listing.key_base}{path}/", why)


def _problem(paths: Sequence[str]) -> str:
    """What is wrong with any of these paths; checked together, because there may be very many."""
    joined = "\0".join(paths)
    if paths and (_INVALID_NAME.search(joined) or joined.count("\0") >= len(paths)):
        return "the key is no path below the channel"
    if any(len(os.fsencode(name)) > _LONGEST_NAME for path in paths if len(path) > _SHORT for name in path.split("/")):
        return "File name too long"
    return ""


def _invalid(uri: str, why: str) -> StagingError:
    return StagingError(f"Data download failed:Unable to download object {uri} (InternalError: {why})")


def with_sizes_and_etags(listing: Listing, store: "Callable[[], S3Client]") -> Listing:
    """The listing with sizes and ETags, requested if it has none. `S3Error` if an object does not exist."""
    if len(listing.etags) == len(listing.sizes) == len(listing.paths):
        return listing
    found = _head_all(listing, store())
    sizes = [each.size or 0 for each in found]
    return replace(listing, sizes=sizes, etags=[each.etag or "" for each in found], total_bytes=sum(sizes))


def _head_all(listing: Listing, store: "S3Client") -> list[S3Object]:
    """Send HEAD for every object, several at a time; a signal handler may raise at any point."""
    count = len(listing.paths)
    found: list[S3Object | None] = [None] * count
    numbers, taking, stopped = iter(range(count)), Lock(), Event()
    failures: list[Exception] = []
    client = store.until(stopped.is_set)

    def work() -> None:
        while not stopped.is_set():
            with taking:
                index = next(numbers, None)
            if index is None:
                return
            try:
                found[index] = client.head(listing.bucket, listing.key(index))
            except Exception as error:  # noqa: BLE001 - raised in the calling thread
                failures.append(error)
                stopped.set()

    # Daemon threads: the process can end while they wait for S3.
    threads = [Thread(target=work, daemon=True) for _ in range(min(_THREADS, count))]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        stopped.set()
    if failures:
        raise failures[0]
    return [each for each in found if each is not None]
