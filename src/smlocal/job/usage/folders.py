"""How much the folders hold that a container has left."""

import os
from collections.abc import Iterable

_MOST = 10_000
"""Entries that are looked at, in 30 ms: the end of a job waits for it."""
_BLOCK = 512


def held(folders: Iterable[tuple[str, str]]) -> dict[str, int | None]:
    """Bytes on disk of folders (here, there), by the container's path; None for one that cannot be counted."""
    sizes: dict[str, int | None] = {}
    left = _MOST
    for here, there in folders:
        sizes[there] = None
        if left < 0:
            continue
        try:
            size, left = _size(here, left)
        except OSError:  # only root may look, or it is on another machine
            continue
        if left >= 0:
            sizes[there] = size
    return sizes


def _size(top: str, left: int) -> tuple[int, int]:
    """The bytes below a folder, and how many entries may still be looked at: less than none when there are too many."""
    size = 0
    pending = [top]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                left -= 1
                if left < 0:
                    return size, left
                size += entry.stat(follow_symlinks=False).st_blocks * _BLOCK
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
    return size, left
