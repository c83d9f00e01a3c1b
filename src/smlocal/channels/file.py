"""File mode: the whole channel is in its folder before the container starts; the container may write to it."""

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from smlocal.channels.copy import copy_tree, link_tree
from smlocal.channels.interface import Copying, Means, StagedChannel, unbroken
from smlocal.channels.overlay import overlay_volume
from smlocal.contract.listing import Listing
from smlocal.engine.interface import Engine, Mount
from smlocal.planning.aspects.inputs.plan import Staging


def prepare_channel(
    listing: Listing,
    *,
    engine: Engine,
    staging: Staging,
    target: str,
    target_directory: str,
    volume_prefix: str,
    labels: Mapping[str, str],
    rootless: bool,
    folders: Sequence[str] = (),
    copying: Copying = unbroken,
) -> StagedChannel:
    """Prepare a channel for one host, to be mounted at `target`.

    `target_directory` is a private folder of this channel and host, which need not exist. If the engine refuses the
    overlay at the start, the same call with `staging="copy"` works in the same folder. `folders` are empty folders that
    a copy has too. `copying` is entered around work that takes time and can be interrupted at any point.
    """
    if staging == "overlay":
        copied = 0
        lower = os.path.realpath(listing.root)
        if not listing.whole_tree:
            os.makedirs(target_directory, exist_ok=True)
            lower = os.path.join(os.path.realpath(target_directory), "lower")
            with copying() as check:
                copied = link_tree(listing, lower, check=check)
        volume, upper = overlay_volume(lower, engine=engine, name=volume_prefix, labels=labels, rootless=rootless)
        mount = Mount(source=volume, target=target, volume=True)
        return StagedChannel(mounts=(mount,), means=Means.OVERLAY, bytes_copied=copied, upper=upper)
    os.makedirs(target_directory, exist_ok=True)
    # A copy from a failed start may belong to root by now, and cannot be removed: use another folder.
    folder = next(path for path in _places(target_directory) if not os.path.lexists(path))
    with copying() as check:
        means, copied = copy_tree(listing, folder, folders=folders, check=check)
    return StagedChannel(mounts=(Mount(source=folder, target=target),), means=means, bytes_copied=copied)


def _places(target_directory: str) -> Iterator[str]:
    return (os.path.join(target_directory, f"copy-{number}") for number in count(1))
