"""Which jobs use which tree: a marker file named after the tree in the job's folder, removed with the job."""

import os
from collections.abc import Mapping
from contextlib import suppress

MARKERS = os.path.join("staged", "cache")
"""The folder of a job's markers, below the job's folder."""


def mark(directory: str, tree: str) -> bool:
    """Note that the job uses the tree; False if that was noted before."""
    os.makedirs(directory, mode=0o700, exist_ok=True)
    try:
        os.close(os.open(os.path.join(directory, tree), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return False
    return True


def unmark(directory: str, tree: str) -> None:
    """The job does not use the tree."""
    with suppress(FileNotFoundError):
        os.unlink(os.path.join(directory, tree))


def jobs_by_tree(home: str) -> Mapping[str, list[str]]:
    """The names of the jobs that use each tree."""
    found: dict[str, list[str]] = {}
    jobs = os.path.join(home, "jobs")
    for job in _names(jobs):
        for tree in _names(os.path.join(jobs, job, MARKERS)):
            found.setdefault(tree, []).append(job)
    return found


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
