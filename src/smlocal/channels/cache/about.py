"""What a tree of the cache is, beside it for people and for whoever makes room."""

import os
from dataclasses import asdict
from typing import TYPE_CHECKING

from smlocal.quick_dataclass import dataclass

if TYPE_CHECKING:
    from smlocal.channels.cache.folder import Cache

_ABOUT = "about.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class About:
    """What is written down when a tree is made."""

    uri: str
    """`s3://bucket/prefix` that the objects were selected by."""
    endpoint: str
    objects: int
    bytes: int
    copied: int
    """Of these, how many lie here a second time because the file system would not link them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tree:
    """One tree of the cache, as it is now."""

    name: str
    about: About | None
    """None where it is damaged."""
    last_used: float


def write_about(folder: str, about: About) -> None:
    """Write it into the folder of a tree."""
    import json

    with open(os.path.join(folder, _ABOUT), "w", encoding="utf-8") as file:
        json.dump(asdict(about), file)


def touch(folder: str) -> None:
    """Note that the tree is used now."""
    os.utime(os.path.join(folder, _ABOUT))


def trees_of(cache: "Cache") -> list[Tree]:
    """Every tree, the least recently used first."""
    try:
        names = sorted(os.listdir(cache.trees))
    except FileNotFoundError:
        return []
    return sorted((_tree(name, cache.tree(name)) for name in names), key=lambda tree: tree.last_used)


def _tree(name: str, folder: str) -> Tree:
    import json

    path = os.path.join(folder, _ABOUT)
    try:
        with open(path, encoding="utf-8") as file:
            about = About(**json.load(file))
        return Tree(name=name, about=about, last_used=os.stat(path).st_mtime)
    except (OSError, ValueError, TypeError):
        return Tree(name=name, about=None, last_used=0.0)
