"""Objects of S3 brought to disk for File mode: out of the cache, into it, or into the job's own folder."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from errno import EDQUOT, ENOSPC
from typing import TYPE_CHECKING

from smlocal.channels.cache.sealed_tree import folders_of, make_folders, seal
from smlocal.channels.download_listing import check_paths, with_sizes_and_etags, without_duplicates
from smlocal.contract.listing import Listing
from smlocal.contract.outcome.failure_reason import client_error
from smlocal.errors import StagingError
from smlocal.removal import remove_tree
from smlocal.sources.progress import Meter, Progress
from smlocal.sources.s3.interface import S3Error, S3Object

if TYPE_CHECKING:
    from smlocal.channels.cache.folder import Cache
    from smlocal.sources.s3.client import S3Client

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
) -> Listing:
    """The same objects as a local listing, in a folder that holds exactly them; `StagingError` in the service's words.

    `directory` is the job's own, for what does not go through the cache; what lies there already is not brought again.
    `marker_directory` is `staged/cache` in the job's folder: while it is there, nothing that was handed out is removed
    from the cache. `store` is called once, and only if S3 is needed; it stays open.

    A signal handler may break this off by an exception at any point: then no thread goes on downloading, and what the
    job was to have is not left half-done. Objects that are whole stay in the cache, for the next try.
    """
    if listing.failure is not None:
        raise StagingError(client_error(f"Data download failed:{listing.failure}"))
    wanted = without_duplicates(listing)
    check_paths(wanted)
    download = _Download(wanted, store=store, endpoint=endpoint, progress=progress, warn=warn)
    try:
        root = None if cache is None else download.through_cache(cache, marker_directory)
        root = root or download.into_own(directory)
    except S3Error as error:
        from smlocal.sources.s3.failure_reasons import download_failure

        raise StagingError(
            client_error(f"Data download failed:{download_failure(error)}"), details=(str(error),)
        ) from error
    except OSError as error:
        raise StagingError(client_error(f"Data download failed:{_reason(error)}"), details=(str(error),)) from error
    return replace(download.listing, root=root, root_key=None, whole_tree=True)


class _Download:
    """One listing on its way to disk."""

    def __init__(
        self,
        listing: Listing,
        *,
        store: "Callable[[], S3Client]",
        endpoint: str,
        progress: Callable[[Progress], None],
        warn: Callable[[str], None],
    ) -> None:
        self.listing = listing
        self._open, self._endpoint = store, endpoint
        self._opened: S3Client | None = None
        self._progress, self._warn = progress, warn
        self._folders = folders_of(listing.paths, listing.directories)

    def through_cache(self, cache: "Cache", marker_directory: str) -> str | None:
        """The folder in the cache, made if need be; None, which is said, where the cache cannot have it."""
        from smlocal.channels.cache.get_tree import DamagedInUseError

        self.listing = with_sizes_and_etags(self.listing, self._store)
        try:
            if sum(self.listing.sizes) > cache.limit:
                why = "the data is larger than the cache limit"
            else:
                cache.prepare()
                root = self._in_cache(cache, marker_directory)
                if root is not None:
                    return root
                why = "running jobs use the rest of the cache"
        except DamagedInUseError:
            why = "the cached data is damaged, and another job uses it"
        except OSError as error:
            why = (
                "the disk is full"
                if error.errno in _FULL
                else f"{error.strerror or error}: {error.filename or cache.root}"
            )
        self._warn(f"the download cache is not used: {why}")
        return None

    def _in_cache(self, cache: "Cache", marker_directory: str) -> str | None:
        from smlocal.channels.cache.get_tree import get_tree

        meter = self._meter()
        root = get_tree(
            cache,
            self.listing,
            endpoint=self._endpoint,
            folders=self._folders,
            marker_directory=marker_directory,
            download=lambda places: self._download(places, meter),
            found=meter.found,
            waiting=lambda: self._warn("waiting for another job that downloads the same data"),
        )
        if root is not None:
            meter.finish()
        return root

    def _store(self) -> "S3Client":
        if self._opened is None:
            self._opened = self._open()
        return self._opened

    def into_own(self, directory: str) -> str:
        """A folder of the job alone."""
        from smlocal.channels.cache.keys import tree_name

        root = os.path.join(directory, tree_name(self._endpoint, self.listing))
        if os.path.isdir(root):
            return root
        made = f"{root}.partial"
        os.makedirs(directory, exist_ok=True)
        remove_tree(made)
        try:
            make_folders(made, self._folders)
            places = [(index, f"{made}/{path}") for index, path in enumerate(self.listing.paths)]
            meter = self._meter()
            self._download(places, meter)
            for _, place in places:
                seal(place)
            meter.finish()
            os.rename(made, root)
        except BaseException:
            _give_up(made)
            raise
        return root

    def _meter(self) -> Meter:
        return Meter(self._progress, total_bytes=self.listing.total_bytes, total_objects=len(self.listing.paths))

    def _download(self, places: Sequence[tuple[int, str]], meter: Meter) -> None:
        if not places:
            return
        from smlocal.sources.s3.download import download_all

        download_all(self._store(), ((self._object(index), place) for index, place in places), progress=meter.add)

    def _object(self, index: int) -> S3Object:
        listing = self.listing
        return S3Object(
            bucket=listing.bucket,
            key=listing.key(index),
            size=listing.sizes[index] if listing.sizes else None,
            etag=listing.etags[index] if listing.etags else None,
        )


def _give_up(folder: str) -> None:
    """Remove it, first by its name: a thread that was in the middle of an object finds no place to write any more."""
    aside = f"{folder}-removed"
    try:
        os.rename(folder, aside)
        remove_tree(aside)
    except OSError:
        pass  # the job's folder goes as a whole when the job has ended


def _reason(error: OSError) -> str:
    return "Insufficient disk space" if error.errno in _FULL else f"InternalError: {error.strerror or error}"
