"""Local channels in folders of the container: copies and overlays for File mode, read-only mounts for FastFile."""

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from smlocal.data.channels.copy import copy_tree, link_tree
from smlocal.data.channels.interface import Copying, Means, StagedChannel, unbroken
from smlocal.engine.interface import Engine, Mount
from smlocal.errors import EngineError
from smlocal.jobs.planning.aspects.inputs.plan import Staging
from smlocal.terms.listing import Listing


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


# A copy-on-write view of a folder, made by the engine's own volume driver.

_RENAMES = ",redirect_dir=on,index=off"
"""Folders of `lower` can be renamed, and hard links there become separate files, as objects are. Kernels before 4.13
refuse the overlay."""
_METADATA_ONLY = ",metacopy=on"
"""chmod and chown do not copy the data of a file. For kernels from 4.19 on."""
_METACOPY_PARAMETER = "/sys/module/overlay/parameters/metacopy"
_ROOTLESS = ",userxattr"
"""Without it folders of `lower` could not be removed: only root can set the usual attributes. The kernel does not
allow `redirect_dir` with it, so folders cannot be renamed. Kernels before 5.11 refuse the overlay."""
_REFUSED = "failed to mount local volume"


def overlay_volume(
    lower: str, *, engine: Engine, name: str, labels: Mapping[str, str], rootless: bool
) -> tuple[str, str]:
    """Make a volume that shows `lower` and keeps all changes in two plain volumes.

    Returns its name, and the folder of the changes on the engine's machine. Plain volumes, not folders of the user: the
    kernel's work folder has mode 000, and only root could remove it. The engine mounts, and reports errors, only when a
    container starts.
    """
    upper = engine.create_volume(f"{name}-upper", labels, {})
    work = engine.create_volume(f"{name}-work", labels, {})
    layers = f"lowerdir={_escaped(lower)},upperdir={_escaped(upper)},workdir={_escaped(work)}"
    options = _ROOTLESS if rootless else _RENAMES
    if not rootless and os.path.exists(_METACOPY_PARAMETER):
        options += _METADATA_ONLY
    engine.create_volume(name, labels, {"type": "overlay", "device": "overlay", "o": layers + options})
    return name, upper


def is_overlay_refusal(error: EngineError) -> bool:
    """Whether a start failed because the kernel refused the overlay: a copy still works."""
    return _REFUSED in error.sentence


def _escaped(path: str) -> str:
    return path.replace("\\", "\\\\").replace(":", "\\:").replace(",", "\\,")


# FastFile from a local folder: the files are mounted read-only.


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
