"""Downloads the objects of a channel in File mode, through the cache or into the job's own folder, and checkpoints."""

import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from errno import EDQUOT, ENOSPC
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, TypeVar

from smlocal.base.files import Check, free_bytes, no_check, remove_tree
from smlocal.base.readable import readable_bytes
from smlocal.data.channels.cache.folder import Cache, folders_of, make_folders, seal
from smlocal.data.channels.copy import UNSURE_SIZES, copy_into, file_system_at
from smlocal.data.sources.progress import Meter, Progress
from smlocal.data.sources.s3.error_responses import download_failure
from smlocal.data.sources.s3.interface import S3Error, S3Object, listed_object
from smlocal.errors import StagingError
from smlocal.terms.checkpoints import Restored, Stamp
from smlocal.terms.listing import Listing

if TYPE_CHECKING:
    from smlocal.data.sources.s3.client import S3Client

_FULL = {ENOSPC, EDQUOT}


def download_channel(
    listing: Listing,
    *,
    store: "Callable[[], S3Client]",
    endpoint: str,
    cache: "Cache | None",
    directory: str,
    marker_directory: str,
    progress: Callable[[Progress], None],
    warn: Callable[[str], None],
    check: Check = no_check,
) -> Listing:
    """Return a local listing of a folder with exactly these objects; `StagingError` in the service's words.

    `directory` is the job's own folder, for files that are not in the cache; a download that it already has is used.
    `marker_directory` is `staged/cache` in the job's folder: while it exists, the trees that the job uses stay in the
    cache. `store` is called at most once, when S3 is needed, and stays open.

    `check`, which is called while another job downloads the same data, may raise. A signal handler may raise at any
    point: the threads then stop, and no incomplete download is left for the job. Complete objects stay in the cache.
    """
    with service_errors():
        wanted = downloadable(listing)
        download = _Download(wanted, store=store, endpoint=endpoint, progress=progress, warn=warn, check=check)
        root = None if cache is None else download.through_cache(cache, marker_directory)
        root = root or download.into_folder(directory)
        return replace(download.listing, root=root, root_key=None, whole_tree=True)


@contextmanager
def service_errors() -> Iterator[None]:
    """Raise errors of S3 and of the disk as `StagingError` in the service's words."""
    try:
        yield
    except S3Error as error:
        why = download_failure(error)
        raise StagingError(f"Data download failed:{why}", details=(str(error),)) from error
    except OSError as error:
        full = error.errno in _FULL
        why = "Insufficient disk space" if full else f"InternalError: {error.strerror or error}"
        raise StagingError(f"Data download failed:{why}", details=(str(error),)) from error


def downloadable(listing: Listing) -> Listing:
    """The listing with every path once; `StagingError` if it cannot be written to a folder."""
    if listing.failure is not None:
        raise StagingError(f"Data download failed:{listing.failure}")
    wanted = without_duplicates(listing)
    check_paths(wanted)
    return wanted


class _Download:
    """The download of one listing."""

    def __init__(
        self,
        listing: Listing,
        *,
        store: "Callable[[], S3Client]",
        endpoint: str,
        progress: Callable[[Progress], None],
        warn: Callable[[str], None],
        check: Check,
    ) -> None:
        self.listing = listing
        self._open, self._endpoint = store, endpoint
        self._opened: S3Client | None = None
        self._progress, self._warn, self._check = progress, warn, check
        self._folders = folders_of(listing.paths, listing.directories)

    def through_cache(self, cache: "Cache", marker_directory: str) -> str | None:
        """The folder in the cache, made if necessary; None, with a warning, if the cache cannot be used."""
        from smlocal.data.channels.cache.get_tree import DamagedInUseError, get_tree

        self.listing = with_sizes_and_etags(self.listing, self._store)
        meter = self._meter()
        try:
            if sum(self.listing.sizes) > cache.limit:
                why = "the data is larger than the cache limit"
            else:
                root = get_tree(
                    cache,
                    self.listing,
                    endpoint=self._endpoint,
                    folders=self._folders,
                    marker_directory=marker_directory,
                    download=lambda places: self._download(places, meter),
                    found=meter.found,
                    waiting=lambda: self._warn("waiting for another job that downloads the same data"),
                    check=self._check,
                )
                if root is not None:
                    meter.finish()
                    return root
                lacks = (free_bytes(cache.root) or 0) < sum(self.listing.sizes)
                why = "too little of its disk is free" if lacks else "running jobs use the rest of the cache"
        except DamagedInUseError:
            why = "the cached data is damaged, and another job uses it"
        except OSError as error:
            full = error.errno in _FULL
            why = "the disk is full" if full else f"{error.strerror or error}: {error.filename or cache.root}"
        self._warn(f"the download cache is not used: {why}")
        return None

    def into_folder(self, directory: str) -> str:
        """A folder below `directory`, which belongs to the job."""
        from smlocal.data.channels.cache.get_tree import tree_name

        root = os.path.join(directory, tree_name(self._endpoint, self.listing))
        if os.path.isdir(root):
            return root
        partial = f"{root}.partial"
        os.makedirs(directory, exist_ok=True)
        remove_tree(partial)
        size, free = self.listing.total_bytes, free_bytes(directory)
        if size and free and size > free and file_system_at(directory) not in UNSURE_SIZES:
            raise OSError(ENOSPC, f"{readable_bytes(size)} to be downloaded, {readable_bytes(free)} free", directory)
        try:
            make_folders(partial, self._folders)
            places = [(index, f"{partial}/{path}") for index, path in enumerate(self.listing.paths)]
            meter = self._meter()
            self._download(places, meter)
            for _, place in places:
                seal(place)
            meter.finish()
            os.rename(partial, root)
        except BaseException:
            with suppress(OSError):  # the job's folder is removed at the end of the job
                # Renamed first: a thread that is still writing an object then has no place to put it.
                os.rename(partial, f"{partial}-removed")
                remove_tree(f"{partial}-removed")
            raise
        return root

    def _store(self) -> "S3Client":
        if self._opened is None:
            self._opened = self._open()
        return self._opened

    def _meter(self) -> Meter:
        return Meter(self._progress, total_bytes=self.listing.total_bytes, total_objects=len(self.listing.paths))

    def _download(self, places: Sequence[tuple[int, str]], meter: Meter) -> None:
        if not places:
            return
        from smlocal.data.sources.s3.download import download_all

        objects = ((listed_object(self.listing, index), place) for index, place in places)
        download_all(self._store(), objects, progress=meter.add)


# Prepares a listing for download: every path once, checked, with sizes and ETags.

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
    """The mistake in any of these paths; checked together, because there may be very many."""
    joined = "\0".join(paths)
    if paths and (_INVALID_NAME.search(joined) or joined.count("\0") >= len(paths)):
        return "the key is not a path below the channel"
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


_DIRECTORY_MODE = 0o755
_BEFORE_NS = 2_000_000_000
"""Restored files are this much older than now: some file systems keep times in whole seconds."""


def download(
    listing: Listing, directory: str, *, draft: str, store: "S3Client", progress: Callable[[Progress], None]
) -> None:
    """Download all objects of a listing into the new folder `directory`, which exists only when it is complete.

    A signal handler may raise at any point. `StagingError` in the service's words.
    """
    from smlocal.data.sources.s3.download import download_all

    wanted = downloadable(listing)
    remove_tree(draft)
    try:
        with service_errors():
            make_folders(draft, folders_of(wanted.paths))
            places = ((listed_object(wanted, index), f"{draft}/{path}") for index, path in enumerate(wanted.paths))
            meter = Meter(progress, total_bytes=wanted.total_bytes, total_objects=len(wanted.paths))
            download_all(store, places, progress=meter.add)
            meter.finish()
            os.rename(draft, directory)
    finally:
        remove_tree(draft)


def restore(listing: Listing, target_directory: str, *, check: Check = no_check) -> Restored:
    """Copy every checkpoint below `target_directory`, which is made if necessary; return the copied files.

    Files get mode 0644, folders 0755, and a modification time just before now, as a download has. `StagingError` if it
    fails.
    """
    _make_folders(target_directory)
    copy_into(listing, target_directory, check=check)
    moment = time.time_ns() - _BEFORE_NS
    return Restored(
        directory=target_directory,
        files={path: _stamped(f"{target_directory}/{path}", moment) for path in listing.paths},
    )


def _make_folders(path: str) -> None:
    if os.path.isdir(path):
        return
    _make_folders(os.path.dirname(path))
    os.mkdir(path)
    os.chmod(path, _DIRECTORY_MODE)  # regardless of the umask


def _stamped(path: str, moment: int) -> Stamp:
    """Set the modification time: a later write gives the file another one."""
    os.utime(path, ns=(moment, moment))
    status = os.lstat(path)
    return Stamp(size=status.st_size, mtime_ns=status.st_mtime_ns, inode=status.st_ino)
