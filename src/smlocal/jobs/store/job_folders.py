"""Folders of jobs that are being recorded or removed, so that the next process finishes what a killed one had begun."""

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

_REMOVED: Final = "removed"
"""The folder in the home with those of removed jobs, each named by the process that removes it."""
_BEGUN: Final = "begun"
"""The folder in the home with the names of jobs that are being recorded, each after the number of its process."""
_TRIES: Final = 20
"""Another process may remove the empty folder at any moment."""


def move_aside(home: str, folder: str, *, run_id: str) -> str:
    """Move the folder of a job away, which frees its name at once. A link is moved itself."""
    removed = os.path.join(home, _REMOVED)
    os.makedirs(removed, mode=0o700, exist_ok=True)
    aside = os.path.join(removed, f"{os.getpid()}-{run_id}-{os.path.basename(folder)}")
    with suppress(FileNotFoundError):
        os.rename(folder, aside)
    return aside


def moved_by_dead(home: str) -> Iterator[tuple[str, str, str]]:
    """Folders that processes have moved away which are gone: the path, the run and the name of the job."""
    for path, rest in _of_dead(os.path.join(home, _REMOVED)):
        run_id, _, name = rest.partition("-")
        yield path, run_id, name


def mark_begun(home: str, name: str) -> None:
    """Say that this process makes the folder of a job, which is not recorded yet."""
    begun = os.path.join(home, _BEGUN)
    for left in reversed(range(_TRIES)):
        os.makedirs(begun, mode=0o700, exist_ok=True)
        try:
            os.makedirs(_mark(begun, name), mode=0o700, exist_ok=True)
        except FileNotFoundError:
            if not left:
                raise
        else:
            return


def unmark_begun(home: str, name: str) -> None:
    """The job is recorded, or its folder is removed."""
    begun = os.path.join(home, _BEGUN)
    with suppress(OSError):
        os.rmdir(_mark(begun, name))
        os.rmdir(begun)


def begun_by_dead(home: str) -> Iterator[tuple[str, str]]:
    """Jobs that processes have begun to record which are gone: the mark to remove, and the name."""
    yield from _of_dead(os.path.join(home, _BEGUN))


def _mark(begun: str, name: str) -> str:
    return os.path.join(begun, f"{os.getpid()}-{name}")


def _of_dead(folder: str) -> Iterator[tuple[str, str]]:
    """Entries `PROCESS-REST` of processes that are gone, as path and rest. An empty folder is removed then."""
    try:
        entries = os.listdir(folder)
    except FileNotFoundError:
        return
    for entry in entries:
        owner, _, rest = entry.partition("-")
        if owner.isdigit() and not _alive(int(owner)):
            yield os.path.join(folder, entry), rest
    with suppress(OSError):
        os.rmdir(folder)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
