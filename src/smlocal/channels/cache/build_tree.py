"""Build a tree for the cache: hard links to contents that the cache has, and downloads of the rest."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from smlocal.channels.cache.eviction import reserve_space
from smlocal.channels.cache.folder import DOWNLOADS, data_folder, keep_downloads, store_blob
from smlocal.channels.cache.keys import blob_name
from smlocal.channels.cache.sealed_tree import is_sealed, make_folders, seal
from smlocal.channels.cache.tree_info import TreeInfo, write_tree_info
from smlocal.channels.duplicate import Duplicator
from smlocal.contract.listing import Listing

if TYPE_CHECKING:
    from smlocal.channels.cache.folder import Cache

Download = Callable[[Sequence[tuple[int, str]]], None]
"""Downloads objects, by their number in the listing, to these paths."""


class TreeBuilder:
    """Builds one tree, in the one process that may (`Cache.alone`)."""

    def __init__(self, cache: "Cache", name: str, listing: Listing, *, endpoint: str, folders: Sequence[str]) -> None:
        """`listing` has every path once, with its size and ETag."""
        self._cache, self._listing, self._folders = cache, listing, folders
        self._endpoint = endpoint
        self._work = os.path.join(cache.partial, name)
        self._downloads = os.path.join(self._work, DOWNLOADS)
        self._tree = os.path.join(self._work, "tree")
        self._data = data_folder(self._tree)
        self._duplicator = Duplicator()
        self._copied = 0

    def build(self, download: Download, found: Callable[[int, int], None]) -> str | None:
        """Build the tree and return its folder, or None if the cache has no room for it.

        `found` is told the bytes and objects that need no download.
        """
        for folder in (self._work, self._downloads, self._tree):
            os.mkdir(folder, 0o700)
        make_folders(self._data, self._folders)
        missing = dict(self._link_known_contents(found))
        listing = self._listing
        if not reserve_space(self._cache, self._work, sum(listing.sizes[index] for index in missing)):
            return None
        download([(index, os.path.join(self._downloads, blob)) for index, blob in missing.items()])
        for index, blob in missing.items():
            # First its place in the tree, then its name in the cache: a blob without a link may be evicted.
            downloaded = os.path.join(self._downloads, blob)
            seal(downloaded)
            self._link(downloaded, f"{self._data}/{listing.paths[index]}")
            store_blob(downloaded, self._cache.blob(blob))
        info = TreeInfo(
            uri=f"{listing.bucket_uri}{listing.prefix}",
            endpoint=self._endpoint,
            objects=len(listing.paths),
            bytes=sum(listing.sizes),
            copied=self._copied,
        )
        write_tree_info(self._tree, info)
        return self._tree

    def keep_downloads(self) -> None:
        """Keep the objects that are complete, also those of an earlier attempt that was killed."""
        keep_downloads(self._work, self._cache.blob)

    def clear(self) -> None:
        """Remove what is left of the work."""
        self._cache.discard(self._work)

    def _link_known_contents(self, found: Callable[[int, int], None]) -> Iterator[tuple[int, str]]:
        """Link contents that the cache has, which protects them from eviction; yield the objects that are missing."""
        listing = self._listing
        for index, path in enumerate(listing.paths):
            size = listing.sizes[index]
            blob = blob_name(self._endpoint, listing.bucket, listing.key(index), listing.etags[index], size)
            place = f"{self._data}/{path}"
            try:
                self._link(self._cache.blob(blob), place)
                good = is_sealed(os.lstat(place), size)
            except FileNotFoundError:
                yield index, blob
                continue
            if good:
                found(size, 1)
            else:
                os.unlink(place)
                yield index, blob

    def _link(self, source: str, place: str) -> None:
        try:
            os.link(source, place, follow_symlinks=False)
        except FileNotFoundError:
            raise
        except OSError:  # too many links, or a file system without hard links
            before = self._duplicator.bytes_copied
            self._duplicator.duplicate(source, place)
            seal(place)
            self._copied += self._duplicator.bytes_copied - before
