"""Finds all files below a folder, as an upload would."""

import os
import stat
from collections.abc import Set as AbstractSet
from dataclasses import field

from smlocal.no_links import Opener
from smlocal.quick_dataclass import dataclass

_KINDS = (
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISLNK, "a link, which this job does not follow"),
)


_MOST_REPEATS = 10_000
_MOST_LINKED = 10_000_000


class EndlessError(Exception):
    """The links of a folder lead to too many files; the text says which."""


@dataclass(kw_only=True, slots=True)
class Tree:
    """The result, as paths below the folder."""

    files: list[str] = field(default_factory=list)
    """In the byte order of their UTF-8 keys."""
    empty_directories: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    whole: bool = True
    """False if names at the top were left out because of the prefix."""
    linked: set[tuple[int, int]] = field(default_factory=set)
    """Folders that links lead to."""
    repeats: int = 0
    """How many more links lead to one of these: nested links multiply."""


def scan(root: str, name_prefix: str = "", special: AbstractSet[int] = frozenset(), *, links: bool = True) -> Tree:
    """Scan the folder `root`; at the top only names that start with `name_prefix`.

    Links must not lead to the devices `special`. `EndlessError` if links lead to too many files. Without `links` they
    are skipped, and a folder that has become one is not entered.
    """
    tree = Tree()
    pending = [""]
    opener = None if links else Opener(root)
    while pending:
        below = pending.pop()
        try:
            with _scandir(root, below, opener) as entries:
                found = _chosen(entries, name_prefix, tree) if name_prefix and not below else entries
                empty = True
                for entry in found:
                    empty = False
                    # The type is in the directory entry: no system call for a file or a folder.
                    if entry.is_file(follow_symlinks=False):
                        tree.files.append(below + entry.name)
                    elif entry.is_dir(follow_symlinks=False):
                        pending.append(f"{below}{entry.name}/")
                    elif entry.is_symlink() and links:
                        _follow(root, below + entry.name, tree, pending, special)
                    else:
                        _skip(tree, below + entry.name, entry.stat(follow_symlinks=False).st_mode)
        except PermissionError:
            tree.unreadable.append(below or ".")
            continue
        if tree.repeats and len(tree.files) > _MOST_LINKED:
            raise EndlessError(f"its links expand to more than {_MOST_LINKED:,} files")
        if empty and below:
            tree.empty_directories.append(below[:-1])
    sort_by_key(tree.files)
    for names in (tree.empty_directories, tree.links, tree.skipped, tree.unreadable):
        names.sort()
    return tree


def _scandir(root: str, below: str, opener: Opener | None) -> "os._ScandirIterator[str]":
    if opener is None:
        return os.scandir(f"{root}/{below}")
    return os.scandir(opener.directory(os.fsencode(below.rstrip("/"))))


def sort_by_key(paths: list[str]) -> None:
    """Sort by UTF-8 bytes, as S3 does: the order of code points, unless a name is not UTF-8."""
    joined = "".join(paths)
    if not joined.isascii():
        try:
            joined.encode()
        except UnicodeEncodeError:
            paths.sort(key=os.fsencode)
            return
    paths.sort()


def _chosen(entries: "os._ScandirIterator[str]", name_prefix: str, tree: Tree) -> list[os.DirEntry[str]]:
    found = list(entries)
    chosen = [entry for entry in found if entry.name.startswith(name_prefix)]
    tree.whole = len(chosen) == len(found)
    return chosen


def _follow(root: str, path: str, tree: Tree, pending: list[str], special: AbstractSet[int]) -> None:
    """Treat a link as its target."""
    tree.links.append(path)
    try:
        target = os.stat(f"{root}/{path}")
    except PermissionError:
        tree.unreadable.append(path)
        return
    except OSError:
        tree.skipped.append(f"{path} is a broken link")
        return
    if stat.S_ISREG(target.st_mode):
        tree.files.append(path)
    elif not stat.S_ISDIR(target.st_mode):
        _skip(tree, path, target.st_mode)
    elif target.st_dev in special:
        raise EndlessError(f"{path} is a link into a kernel file system, which contains no data")
    elif (target.st_dev, target.st_ino) in _folders_above(root, path):
        tree.skipped.append(f"{path} is a link to a folder that contains it")
    else:
        identity = target.st_dev, target.st_ino
        tree.repeats += identity in tree.linked
        if tree.repeats > _MOST_REPEATS:
            raise EndlessError(f"its links lead to the same folders more than {_MOST_REPEATS:,} times")
        tree.linked.add(identity)
        pending.append(f"{path}/")


def _folders_above(root: str, path: str) -> set[tuple[int, int]]:
    parts = path.split("/")[:-1]
    folders = [root, *("/".join([root, *parts[: depth + 1]]) for depth in range(len(parts)))]
    return {(status.st_dev, status.st_ino) for status in map(os.stat, folders)}


def _skip(tree: Tree, path: str, mode: int) -> None:
    kind = next((words for is_kind, words in _KINDS if is_kind(mode)), "not a regular file")
    tree.skipped.append(f"{path} is {kind}")
