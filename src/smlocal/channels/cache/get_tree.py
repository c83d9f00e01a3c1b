"""Get a tree from the cache for a job: the one that exists, or a new one that later jobs use too."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from smlocal.channels.cache.folder import data_folder
from smlocal.channels.cache.in_use import jobs_by_tree, mark, unmark
from smlocal.channels.cache.keys import tree_name
from smlocal.channels.cache.sealed_tree import is_intact
from smlocal.channels.cache.tree_info import mark_used
from smlocal.contract.listing import Listing

if TYPE_CHECKING:
    from smlocal.channels.cache.build_tree import Download
    from smlocal.channels.cache.folder import Cache


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
) -> str | None:
    """The folder with these objects, kept as long as the job's marker exists; None if the cache has no room for it.

    `listing` has every path once, with its size and ETag; `folders` is every folder they need. `download` is called
    when something is missing, `found` with the bytes and objects that are not, and `waiting` if another process is
    making the same tree. `OSError` or `DamagedInUseError` if the cache cannot be used.
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
    with cache.alone(name, waiting):
        root = existing()  # the process that was waited for may have made it
        if root is not None:
            return root
        from smlocal.channels.cache.build_tree import TreeBuilder

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
