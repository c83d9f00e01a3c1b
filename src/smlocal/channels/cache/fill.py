"""A tree that the cache does not have: linked from contents that it has, and downloaded where it has not."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from smlocal.channels.cache.about import About, write_about
from smlocal.channels.cache.keys import blob_name
from smlocal.channels.cache.room import reserve
from smlocal.channels.cache.salvage import NEW, salvage, store
from smlocal.channels.cache.take import data_of
from smlocal.channels.cache.tree import make_folders, seal, sound
from smlocal.channels.duplicate import Duplicator
from smlocal.contract.listing import Listing

if TYPE_CHECKING:
    from smlocal.channels.cache.folder import Cache

Download = Callable[[Sequence[tuple[int, str]]], None]
"""Brings objects, by their number in the listing, to these paths."""


class Filling:
    """The making of one tree, for the one process that is alone with it."""

    def __init__(self, cache: "Cache", name: str, listing: Listing, *, endpoint: str, folders: Sequence[str]) -> None:
        """`listing` has every path once, with its size and ETag."""
        self._cache, self._listing, self._folders = cache, listing, folders
        self._endpoint = endpoint
        self._work = os.path.join(cache.partial, name)
        self._new = os.path.join(self._work, NEW)
        self._tree = os.path.join(self._work, "tree")
        self._data = data_of(self._tree)
        self._duplicator = Duplicator()
        self._copied = 0

    def make(self, download: Download, found: Callable[[int, int], None]) -> str | None:
        """The finished folder, to be kept; None where the cache cannot have so much. `OSError` where it is broken.

        `found` is told of bytes and objects that need no download.
        """
        os.mkdir(self._work, 0o700)
        os.mkdir(self._new, 0o700)
        os.mkdir(self._tree, 0o700)
        make_folders(self._data, self._folders)
        missing = dict(self._link_what_is_here(found))
        sizes = self._listing.sizes
        if not reserve(self._cache, self._work, sum(sizes[index] for index in missing)):
            return None
        download([(index, os.path.join(self._new, blob)) for index, blob in missing.items()])
        for index, blob in missing.items():
            self._store(index, blob)
        self._describe()
        return self._tree

    def salvage(self) -> None:
        """Keep what is whole of it, also of an earlier try that was killed."""
        salvage(self._work, self._cache.blob)

    def clear(self) -> None:
        """Remove what is left of it."""
        self._cache.discard(self._work)

    def _link_what_is_here(self, found: Callable[[int, int], None]) -> Iterator[tuple[int, str]]:
        """Link contents that the cache has, which also keeps them; yields the objects whose content it has not."""
        listing = self._listing
        for index, path in enumerate(listing.paths):
            size = listing.sizes[index]
            blob = blob_name(self._endpoint, listing.bucket, listing.key(index), listing.etags[index], size)
            kept, place = self._cache.blob(blob), f"{self._data}/{path}"
            try:
                self._link(kept, place)
                good = sound(os.lstat(place), size)
            except FileNotFoundError:
                yield index, blob
                continue
            if good:
                found(size, 1)
            else:
                os.unlink(place)
                yield index, blob

    def _store(self, index: int, blob: str) -> None:
        """Give a new content its place in the tree, then its name in the cache, never the other way round."""
        new = os.path.join(self._new, blob)
        seal(new)
        self._link(new, f"{self._data}/{self._listing.paths[index]}")
        store(new, self._cache.blob(blob))

    def _link(self, source: str, place: str) -> None:
        try:
            os.link(source, place, follow_symlinks=False)
        except FileNotFoundError:
            raise
        except OSError:  # too many links to it, or a file system without any
            before = self._duplicator.bytes_copied
            self._duplicator.duplicate(source, place)
            seal(place)
            self._copied += self._duplicator.bytes_copied - before

    def _describe(self) -> None:
        listing = self._listing
        about = About(
            uri=f"{listing.bucket_uri}{listing.prefix}",
            endpoint=self._endpoint,
            objects=len(listing.paths),
            bytes=sum(listing.sizes),
            copied=self._copied,
        )
        write_about(self._tree, about)
