"""The description of a tree, in a file beside it: for `smlocal cache ls`, and for eviction."""

import os
from dataclasses import asdict
from typing import TYPE_CHECKING

from smlocal.quick_dataclass import dataclass

if TYPE_CHECKING:
    from smlocal.channels.cache.folder import Cache

_INFO = "about.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class TreeInfo:
    """Written when a tree is made."""

    uri: str
    """`s3://bucket/prefix` that the objects were selected by."""
    endpoint: str
    objects: int
    bytes: int
    copied: int
    """Bytes that are in the cache twice, because the file system could not link them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tree:
    """One tree of the cache, as it is now."""

    name: str
    info: TreeInfo | None
    """None if the tree is damaged."""
    last_used: float


def write_tree_info(folder: str, info: TreeInfo) -> None:
    """Write the description into the folder of a tree."""
    import json

    with open(os.path.join(folder, _INFO), "w", encoding="utf-8") as file:
        json.dump(asdict(info), file)


def mark_used(folder: str) -> None:
    """Note that the tree is used now."""
    os.utime(os.path.join(folder, _INFO))


def list_trees(cache: "Cache") -> list[Tree]:
    """Every tree, the least recently used first."""
    try:
        names = sorted(os.listdir(cache.trees))
    except FileNotFoundError:
        return []
    return sorted((_tree(name, cache.tree(name)) for name in names), key=lambda tree: tree.last_used)


def _tree(name: str, folder: str) -> Tree:
    import json

    path = os.path.join(folder, _INFO)
    try:
        with open(path, encoding="utf-8") as file:
            info = TreeInfo(**json.load(file))
        return Tree(name=name, info=info, last_used=os.stat(path).st_mtime)
    except (OSError, ValueError, TypeError):
        return Tree(name=name, info=None, last_used=0.0)
