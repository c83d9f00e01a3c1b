"""A tree out of the cache: the one that is there, or one that is made for this job and stays for the next."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from smlocal.channels.cache.fill import Download, Filling
from smlocal.channels.cache.keys import tree_name
from smlocal.channels.cache.take import keep, take
from smlocal.contract.listing import Listing

if TYPE_CHECKING:
    from smlocal.channels.cache.folder import Cache


def obtain(
    cache: "Cache",
    listing: Listing,
    *,
    endpoint: str,
    folders: Sequence[str],
    marker_directory: str,
    download: Download,
    found: Callable[[int, int], None],
    waiting: Callable[[], None],
) -> str | None:
    """The folder of these objects, which stays for as long as the marker does; None where there is no room for it.

    `listing` has every path once, with its size and ETag; `folders` is every folder they need. `download` is called
    when something has to be, `found` with bytes and objects that need not, and `waiting` when another process makes the
    same tree just now. `OSError` or `DamagedInUseError` where the cache cannot be used.
    """
    cache.prepare()
    name, sizes = tree_name(endpoint, listing), dict(zip(listing.paths, listing.sizes, strict=True))

    def look() -> str | None:
        root = take(cache, name, sizes=sizes, folders=folders, marker_directory=marker_directory)
        if root is not None:
            found(sum(listing.sizes), len(sizes))
        return root

    root = look()
    if root is not None:
        return root
    with cache.alone(name, waiting):
        root = look()  # whoever was before us may have made it
        if root is not None:
            return root
        cache.sweep()
        filling = Filling(cache, name, listing, endpoint=endpoint, folders=folders)
        filling.salvage()  # what is left of a process that was killed here
        filling.clear()
        try:
            made = filling.make(download, found)
            return None if made is None else keep(cache, name, made, marker_directory=marker_directory)
        except OSError:
            raise  # of a full disk, most likely: nothing more is put there
        except BaseException:
            filling.salvage()
            raise
        finally:
            filling.clear()
