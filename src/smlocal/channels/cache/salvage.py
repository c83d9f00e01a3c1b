"""What a download had that came to nothing, or was killed: objects that are whole are kept for the next try."""

import os
from collections.abc import Callable
from contextlib import suppress

from smlocal.channels.cache.tree import seal

NEW = "new"
"""Where downloads go, below the folder of a tree in the making: each has its name there only when it is whole."""


def salvage(folder: str, blob: Callable[[str], str]) -> None:
    """Keep the complete objects below this folder of the cache; `blob` says where each of them belongs."""
    new = os.path.join(folder, NEW)
    with suppress(OSError):
        for name in os.listdir(new):
            if name.isalnum():  # others were about to become one
                path = os.path.join(new, name)
                seal(path)
                store(path, blob(name))


def store(path: str, kept: str) -> None:
    """Give a sealed file its place among the contents."""
    try:
        os.rename(path, kept)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(kept), mode=0o700, exist_ok=True)
        os.rename(path, kept)
