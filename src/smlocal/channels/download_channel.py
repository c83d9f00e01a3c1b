"""Downloads the objects of a channel in File mode: through the cache, or into the job's own folder."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from errno import EDQUOT, ENOSPC
from typing import TYPE_CHECKING

from smlocal.channels.cache.sealed_tree import folders_of, make_folders, seal
from smlocal.channels.download_listing import check_paths, with_sizes_and_etags, without_duplicates
from smlocal.contract.listing import Listing
from smlocal.errors import StagingError
from smlocal.removal import remove_tree
from smlocal.sources.progress import Meter, Progress
from smlocal.sources.s3.interface import S3Error, listed_object

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
    """Return a local listing of a folder with exactly these objects; `StagingError` in the service's words.

    `directory` is the job's own folder, for what is not in the cache; a download that it already has is used.
    `marker_directory` is `staged/cache` in the job's folder: while it exists, the trees that the job uses stay in the
    cache. `store` is called at most once, when S3 is needed, and stays open.

    A signal handler may raise at any point: the threads then stop, and no incomplete download is left for the job.
    Complete objects stay in the cache.
    """
    with service_errors():
        wanted = downloadable(listing)
        download = _Download(wanted, store=store, endpoint=endpoint, progress=progress, warn=warn)
        root = None if cache is None else download.through_cache(cache, marker_directory)
        root = root or download.into_folder(directory)
        return replace(download.listing, root=root, root_key=None, whole_tree=True)


@contextmanager
def service_errors() -> Iterator[None]:
    """Raise errors of S3 and of the disk as `StagingError` in the service's words."""
    try:
        yield
    except S3Error as error:
        from smlocal.sources.s3.error_responses import download_failure

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
    ) -> None:
        self.listing = listing
        self._open, self._endpoint = store, endpoint
        self._opened: S3Client | None = None
        self._progress, self._warn = progress, warn
        self._folders = folders_of(listing.paths, listing.directories)

    def through_cache(self, cache: "Cache", marker_directory: str) -> str | None:
        """The folder in the cache, made if necessary; None, with a warning, if the cache cannot be used."""
        from smlocal.channels.cache.get_tree import DamagedInUseError, get_tree

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
                )
                if root is not None:
                    meter.finish()
                    return root
                why = "running jobs use the rest of the cache"
        except DamagedInUseError:
            why = "the cached data is damaged, and another job uses it"
        except OSError as error:
            full = error.errno in _FULL
            why = "the disk is full" if full else f"{error.strerror or error}: {error.filename or cache.root}"
        self._warn(f"the download cache is not used: {why}")
        return None

    def into_folder(self, directory: str) -> str:
        """A folder below `directory`, which belongs to the job."""
        from smlocal.channels.cache.keys import tree_name

        root = os.path.join(directory, tree_name(self._endpoint, self.listing))
        if os.path.isdir(root):
            return root
        partial = f"{root}.partial"
        os.makedirs(directory, exist_ok=True)
        remove_tree(partial)
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
        from smlocal.sources.s3.download import download_all

        objects = ((listed_object(self.listing, index), place) for index, place in places)
        download_all(self._store(), objects, progress=meter.add)
