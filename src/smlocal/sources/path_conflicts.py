"""Paths that cannot exist side by side."""

from collections.abc import Iterable, Sequence


def first_conflict(paths: Sequence[str], directories: Iterable[str] = ()) -> tuple[str, str] | None:
    """Two paths that are the same, or of which one is a file where the other needs a folder; folders end with `/`.

    In sorted order, everything that begins with a file's path comes after it, perhaps with others between.
    """
    above: list[str] = []
    for path in sorted([*paths, *(f"{directory}/" for directory in directories)]):
        while above and not path.startswith(above[-1]):
            above.pop()
        for file in above:
            if path == file or path[len(file) : len(file) + 1] == "/":
                return file, path
        above.append(path)
    return None
