"""What of a listing in S3 is brought to disk: every path once, with the size and ETag that S3 gives it."""

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, TypeVar

from smlocal.contract.listing import Listing
from smlocal.contract.outcome.failure_reason import client_error
from smlocal.errors import StagingError
from smlocal.sources.s3.interface import S3Object

if TYPE_CHECKING:
    from smlocal.sources.s3.client import S3Client

_T = TypeVar("_T")
_THREADS = 16
_LONGEST_NAME = 255
"""In bytes, on every file system that a container is likely to see."""
_SURELY_FITS = _LONGEST_NAME // 4
_LEADS_ELSEWHERE = re.compile(r"(?:^|[/\0])\.{0,2}(?:[/\0]|\Z)")
"""A name that is empty or made of dots, in a path or in many that are joined by NUL."""


def without_duplicates(listing: Listing) -> Listing:
    """The listing with every path once, as it lies on disk; a manifest may name an object many times."""
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
    """Refuse what cannot be a file below the channel's folder, before anything is downloaded."""
    if not _problem((*listing.paths, *listing.directories)):
        return
    for index, path in enumerate(listing.paths):
        if why := _problem((path,)):
            raise _cannot_be(f"{listing.bucket_uri}{listing.key(index)}", why)
    for path in listing.directories:
        if why := _problem((path,)):
            raise _cannot_be(f"{listing.bucket_uri}{listing.key_base}{path}/", why)


def _problem(paths: Sequence[str]) -> str:
    """What is wrong with any of these; they are looked at all at once because a job may have very many."""
    joined = "\0".join(paths)
    if paths and (_LEADS_ELSEWHERE.search(joined) or joined.count("\0") >= len(paths)):
        return "the key is no path below the channel"
    if any(
        len(os.fsencode(name)) > _LONGEST_NAME for path in paths if len(path) > _SURELY_FITS for name in path.split("/")
    ):
        return "File name too long"
    return ""


def _cannot_be(uri: str, why: str) -> StagingError:
    return StagingError(client_error(f"Data download failed:Unable to download object {uri} (InternalError: {why})"))


def with_sizes_and_etags(listing: Listing, store: "Callable[[], S3Client]") -> Listing:
    """The listing with sizes and ETags, asked for where it has none. `S3Error` when an object is not there."""
    if len(listing.etags) == len(listing.sizes) == len(listing.paths):
        return listing
    found = _ask(listing, store())
    sizes = [each.size or 0 for each in found]
    return replace(listing, sizes=sizes, etags=[each.etag or "" for each in found], total_bytes=sum(sizes))


def _ask(listing: Listing, store: "S3Client") -> list[S3Object]:
    """Ask for every object, several at a time; a signal handler may break this off by an exception."""
    count = len(listing.paths)
    found: list[S3Object | None] = [None] * count
    numbers, taking, stopped = iter(range(count)), Lock(), Event()
    failures: list[Exception] = []
    asked = store.until(stopped.is_set)

    def ask() -> None:
        while not stopped.is_set():
            with taking:
                index = next(numbers, None)
            if index is None:
                return
            try:
                found[index] = asked.head(listing.bucket, listing.key(index))
            except Exception as error:  # noqa: BLE001 - raised again where somebody waits for it
                failures.append(error)
                stopped.set()

    # Nobody waits for an answer that is not wanted any more, not even the end of the process.
    threads = [Thread(target=ask, daemon=True) for _ in range(min(_THREADS, count))]
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
