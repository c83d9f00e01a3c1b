"""Get a tree from the cache for a job: the one that exists, or a new one that is built and that later jobs use too."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256

from smlocal.base.files import Check, no_check
from smlocal.data.channels.cache.eviction import jobs_by_tree, mark, reserve_space, unmark
from smlocal.data.channels.cache.folder import (
    DOWNLOADS,
    Cache,
    TreeInfo,
    data_folder,
    is_intact,
    is_sealed,
    keep_downloads,
    make_folders,
    mark_used,
    seal,
    store_blob,
    write_tree_info,
)
from smlocal.data.channels.copy import Duplicator
from smlocal.terms.listing import Listing


class DamagedInUseError(Exception):
    """A tree has been changed and another job uses it: it can be neither used nor replaced."""


def get_tree(
    cache: "Cache",
    listing: Listing,
    *,
    endpoint: str,
    folders: Sequence[str],
    marker_directory: str,
    download: "Download",
    found: Callable[[int, int], None],
    waiting: Callable[[], None],
    check: Check = no_check,
) -> str | None:
    """The folder with these objects, kept as long as the job's marker exists; None if the cache has no room for it.

    `listing` has every path once, with its size and ETag; `folders` is every folder they need. `download` is called
    when something is missing, `found` with the bytes and objects that are not, and `waiting` if another process is
    making the same tree. `check`, called while that is waited for, may raise. `OSError` or `DamagedInUseError` if the
    cache cannot be used.
    """
    cache.prepare()
    name, sizes = tree_name(endpoint, listing), dict(zip(listing.paths, listing.sizes, strict=True))

    def existing() -> str | None:
        root = _find(cache, name, sizes=sizes, folders=folders, marker_directory=marker_directory)
        if root is not None:
            found(sum(listing.sizes), len(sizes))
        return root

    root = existing()
    if root is not None:
        return root
    with cache.alone(name, waiting, check):
        root = existing()  # the process that was waited for may have made it
        if root is not None:
            return root

        cache.sweep()
        builder = TreeBuilder(cache, name, listing, endpoint=endpoint, folders=folders)
        builder.keep_downloads()  # of a process that was killed
        builder.clear()
        try:
            built = builder.build(download, found)
            return None if built is None else _add(cache, name, built, marker_directory)
        except OSError:
            raise  # most likely a full disk: nothing more is written there
        except BaseException:
            builder.keep_downloads()
            raise
        finally:
            builder.clear()


def _find(
    cache: "Cache", name: str, *, sizes: Mapping[str, int], folders: Collection[str], marker_directory: str
) -> str | None:
    """The tree's folder of objects, marked as used; None if there is none. A tree that was changed is removed."""
    folder = cache.tree(name)
    if not os.path.isdir(folder):
        return None
    with cache.locked():
        if not os.path.isdir(folder):
            return None
        new_marker = mark(marker_directory, name)
    data = data_folder(folder)
    if is_intact(data, sizes, folders):
        with suppress(OSError):  # a tree without its description is evicted first
            mark_used(folder)
        return data
    if new_marker:
        unmark(marker_directory, name)
    with cache.locked():
        if name in jobs_by_tree(cache.home):
            raise DamagedInUseError(name)
        cache.discard(folder)
    return None


def _add(cache: "Cache", name: str, built: str, marker_directory: str) -> str:
    """Move a finished tree to where other jobs find it, marked as used by this job."""
    folder = cache.tree(name)
    with cache.locked():
        mark(marker_directory, name)
        cache.discard(folder)
        os.rename(built, folder)
    return data_folder(folder)


# Build a tree for the cache: hard links to contents that the cache has, and downloads of the rest.

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
        """Keep the objects that are complete, including those of an earlier attempt that was killed."""
        keep_downloads(self._work, self._cache.blob)

    def clear(self) -> None:
        """Remove the leftovers of the work."""
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


# Names in the cache: of an object's content, and of a whole tree of objects.

_LENGTH = 40
_AT_ONCE = 10_000
_FORMAT = "1"
"""Another one makes everything that is kept unknown."""


def blob_name(endpoint: str, bucket: str, key: str, etag: str, size: int) -> str:
    """Name of the content that S3 said it would send; the ETag changes with the content."""
    return _digest("\0".join((_FORMAT, endpoint, bucket, key, etag, str(size))))


def tree_name(endpoint: str, listing: Listing) -> str:
    """Name of a folder that holds the objects of a listing in their places, and nothing else.

    One digest for all, not one an object: it is made each time a job starts.
    """
    head = (_FORMAT, endpoint, listing.bucket_uri, listing.key_base, str(len(listing.paths)), *listing.directories)
    digest = sha256(_encoded("\0".join(head)))
    columns = (listing.paths, listing.keys, listing.etags, listing.sizes)
    for first in range(0, len(listing.paths), _AT_ONCE):
        for column in columns:
            digest.update(_encoded("\0".join(map(str, column[first : first + _AT_ONCE]))))
            digest.update(b"\0\0")
    return digest.hexdigest()[:_LENGTH]


def _digest(text: str) -> str:
    return sha256(_encoded(text)).hexdigest()[:_LENGTH]


def _encoded(text: str) -> bytes:
    # Names of objects may be any text; that a file can bear them is looked at elsewhere.
    return text.encode(errors="surrogatepass")
