"""Paths that cannot exist side by side, found with little memory however many there are."""

from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from itertools import pairwise, starmap
from operator import le

from smlocal.contract.packed import packed

_RUN = 50_000
"""So many names are sorted at once."""


def ascending(names: Sequence[str]) -> Iterator[str]:
    """The names in order; those that are not are sorted in pieces, and the pieces merged."""
    if all(starmap(le, pairwise(names))):
        return iter(names)
    return merge(*[packed(sorted(names[first : first + _RUN])) for first in range(0, len(names), _RUN)])


def first_clash(paths: Sequence[str], directories: Iterable[str] = ()) -> tuple[str, str] | None:
    """Two paths that are the same, or of which one is a file where the other needs a folder; folders end with `/`.

    In order, everything that begins with a file's path follows it, if not at once.
    """
    above: list[str] = []
    folders = sorted(f"{directory}/" for directory in directories)
    for path in merge(ascending(paths), folders) if folders else ascending(paths):
        while above and not path.startswith(above[-1]):
            above.pop()
        for file in above:
            if path == file or path[len(file) : len(file) + 1] == "/":
                return file, path
        above.append(path)
    return None


def doubles(names: Sequence[str]) -> set[str]:
    """Names that are there more than once."""
    return {one for one, other in pairwise(ascending(names)) if one == other}
