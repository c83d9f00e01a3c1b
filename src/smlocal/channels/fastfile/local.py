"""FastFile from a local folder: the files are mounted read-only."""

import os

from smlocal.channels.copy import link_tree
from smlocal.channels.interface import Copying, Means, StagedChannel, unbroken
from smlocal.contract.listing import Listing
from smlocal.engine.interface import Mount


def prepare_read_only(
    listing: Listing,
    *,
    target: str,
    target_directory: str,
    copying: Copying = unbroken,
) -> StagedChannel:
    """Mount a local source read-only at `target`: its own folder, or a folder of links if that would differ.

    `target_directory` is a private folder of this channel and host, which need not exist; `copying` is entered around
    work that takes time and can be interrupted at any point.
    """
    copied = 0
    if listing.whole_tree and not listing.copy_reasons:
        shown = os.path.realpath(listing.root)
    else:
        os.makedirs(target_directory, exist_ok=True)
        shown = os.path.join(os.path.realpath(target_directory), "shown")
        with copying() as check:
            copied = link_tree(listing, shown, check=check)
    mount = Mount(source=shown, target=target, read_only=True)
    return StagedChannel(mounts=(mount,), means=Means.BIND, bytes_copied=copied)
