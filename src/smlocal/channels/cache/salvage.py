"""What a download had that came to nothing, or was killed: objects that are whole are kept for the next try."""

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from smlocal.channels.cache.tree import seal

if TYPE_CHECKING:
    from smlocal.channels.cache.folder import Cache

NEW = "new"
"""Where downloads go, below the folder of a tree in the making: each has its name there only when it is whole."""


def salvage(cache: "Cache", folder: str) -> None:
    """Keep the whole contents below this folder of the cache, though no tree has them yet."""
    new = os.path.join(folder, NEW)
    with suppress(OSError):
        for name in os.listdir(new):
            if name.isalnum():  # others were about to become one
                path = os.path.join(new, name)
                seal(path)
                store(cache, path, name)


def store(cache: "Cache", path: str, name: str) -> None:
    """Give a sealed file its place among the contents."""
    kept = cache.blob(name)
    try:
        os.rename(path, kept)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(kept), mode=0o700, exist_ok=True)
        os.rename(path, kept)
