"""Half-written artifacts: hidden, and named so that after a crash they can be told from those of other jobs."""

import os
from contextlib import suppress

from smlocal.removal import remove_tree

_ENDS = (".partial", ".old")


def draft_path(folder: str, name: str, owner: str) -> str:
    """Where an artifact is written until it is whole, for the owner of this mark."""
    return os.path.join(folder, f".{name}-{owner}-{os.urandom(4).hex()}{_ENDS[0]}")


def aside_path(draft: str) -> str:
    """Where goes what the artifact replaces, until that is removed."""
    return draft.removesuffix(_ENDS[0]) + _ENDS[1]


def remove_drafts(folder: str, owner: str) -> None:
    """Remove what a process that was killed has left; only for the one process that writes for this owner."""
    try:
        names = os.listdir(folder)
    except OSError:  # nothing was written
        return
    for name in names:
        if name.startswith(".") and f"-{owner}-" in name and name.endswith(_ENDS):
            with suppress(OSError):
                remove_tree(os.path.join(folder, name))
