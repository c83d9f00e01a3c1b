"""Trees handed out: found, marked as used, and looked at before anybody relies on them."""

import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from smlocal.channels.cache.about import touch
from smlocal.channels.cache.tree import intact
from smlocal.channels.cache.use import mark, unmark, users

if TYPE_CHECKING:
    from smlocal.channels.cache.folder import Cache


class DamagedInUseError(Exception):
    """Somebody has spoilt a tree that another job is reading: it can be neither used nor replaced."""


def take(
    cache: "Cache", name: str, *, sizes: Mapping[str, int], folders: Collection[str], marker_directory: str
) -> str | None:
    """The folder of the tree's objects, which stays for as long as the marker does; None where it must be made.

    A tree that is not as it was made is thrown away.
    """
    folder = cache.tree(name)
    if not os.path.isdir(folder):
        return None
    with cache.locked():
        if not os.path.isdir(folder):
            return None
        ours = mark(marker_directory, name)
    data = data_of(folder)
    if intact(data, sizes, folders):
        with suppress(OSError):  # without its description it is the first to go
            touch(folder)
        return data
    if ours:
        unmark(marker_directory, name)
    with cache.locked():
        if name in users(cache.home):
            raise DamagedInUseError(name)
        cache.discard(folder)
    return None


def keep(cache: "Cache", name: str, made: str, *, marker_directory: str) -> str:
    """Put a tree that has been made where others find it, marked as used by this job."""
    folder = cache.tree(name)
    with cache.locked():
        mark(marker_directory, name)
        cache.discard(folder)
        os.rename(made, folder)
    return data_of(folder)


def data_of(folder: str) -> str:
    """Where the objects of a tree lie."""
    return os.path.join(folder, "data")
