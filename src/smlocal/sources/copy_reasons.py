"""Whether a tree can be shown where it lies: links that lead out of it and mounts inside it cannot come along.

Nor may anything be seen that is no object: sockets, dangling links and their kind are left out of a copy only.
"""

import os
from collections.abc import Iterable, Iterator

from smlocal.sources.mounts import mount_points

_REASONS = 5
_HOPS = 40
"""The kernel's own limit on links in one path."""


def copy_reasons(root: str, links: Iterable[str], skipped: Iterable[str] = ()) -> tuple[str, ...]:
    """Why the tree has to be copied, a sentence each, and a count where there are many."""
    real = os.path.realpath(root)
    reasons = [*_unspeakable(real), *_mounts(real), *_links(real, links), *skipped]
    if len(reasons) <= _REASONS:
        return tuple(reasons)
    return (*reasons[:_REASONS], f"{len(reasons) - _REASONS} more")


def _unspeakable(real: str) -> Iterator[str]:
    try:
        real.encode()
    except UnicodeEncodeError:
        yield "the folder's path is not UTF-8, which the engine requires"


def _links(real: str, links: Iterable[str]) -> Iterator[str]:
    known = {"": True}  # links often share a folder, and asking where it really is costs
    for link in links:
        below, _, name = link.rpartition("/")
        parent = os.path.normpath(f"{real}/{below}")
        if below not in known:
            known[below] = os.path.realpath(parent) == parent
        if not known[below]:
            # Reached through another link: it is looked at where it really lies, or lies outside like that other.
            continue
        target = os.readlink(f"{parent}/{name}")
        if target.startswith("/"):
            yield f"{link} is a link to the absolute path {target}"
        elif leads_out(real, parent, target):
            yield f"{link} is a link out of the folder, to {target}"


def leads_out(root: str, parent: str, target: str) -> bool:
    """Walk a relative link as the container would: true as soon as a step leaves `root`."""
    current, hops = parent, 0
    pending = target.split("/")[::-1]
    while pending:
        step = pending.pop()
        if step in {"", "."}:
            continue
        if step == "..":
            if current == root:
                return True
            current = os.path.dirname(current)
            continue
        following = f"{current}/{step}"
        try:
            text = os.readlink(following)
        except OSError:
            current = following
            continue
        hops += 1
        if text.startswith("/"):
            return True
        if hops > _HOPS:
            return False
        pending += text.split("/")[::-1]
    return False


def _mounts(real: str) -> Iterator[str]:
    """Mount points below the folder, bind mounts of the same device too; an overlay shows what lies under them."""
    inside = real.rstrip("/") + "/"
    for mount in mount_points():
        if mount.path.startswith(inside):
            yield f"{mount.path.removeprefix(inside)} is a mount point"
