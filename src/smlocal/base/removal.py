"""Delete a folder with everything in it, also read-only folders. Links are not followed."""

import os
from contextlib import suppress
from dataclasses import field

from smlocal.base.quick_dataclass import dataclass

_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_WRITE_AND_ENTER = 0o300


@dataclass(kw_only=True, slots=True)
class _Level:
    """A directory that is being deleted."""

    name: str
    identity: tuple[int, int]
    directories: list[str] = field(default_factory=list)


def remove_tree(path: str) -> None:
    """Delete `path`, if it exists, whatever it is. A link is deleted, not followed."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
    except (IsADirectoryError, PermissionError):
        # For a directory: EISDIR on Linux, EPERM on macOS.
        if os.path.islink(path) or not os.path.isdir(path):
            raise
        _remove_directory(path)


def _remove_directory(path: str) -> None:
    """Delete a directory, deepest first.

    A loop, because a training script may nest folders deeper than Python's recursion limit. Only one directory is open
    at a time, because there may be more levels than a process can open files. The way back up is `..`; if the tree was
    moved meanwhile, `..` is another directory, and deleting stops.
    """
    current, top = _enter(path, None)
    levels = [top]
    try:
        while True:
            level = levels[-1]
            if level.directories:
                child = level.directories.pop()
                try:
                    below, lower = _enter(child, current)
                except PermissionError:
                    os.rmdir(child, dir_fd=current)  # it belongs to another user, but can be deleted if it is empty
                    continue
                before, current = current, below  # in this order, because a signal handler may raise in between
                os.close(before)
                levels.append(lower)
                continue
            levels.pop()
            if not levels:
                os.rmdir(path)
                return
            before, current = current, os.open("..", _OPEN, dir_fd=current)
            os.close(before)
            if _identity(current) != levels[-1].identity:
                raise OSError(0, "the folder was moved while it was being deleted", path)
            os.rmdir(level.name, dir_fd=current)
    finally:
        os.close(current)


def _enter(name: str, parent: int | None) -> tuple[int, _Level]:
    """Open a directory, after a chmod if that is needed and allowed, and delete all files in it."""
    try:
        directory = os.open(name, _OPEN, dir_fd=parent)
    except PermissionError:
        os.chmod(name, 0o700, dir_fd=parent)
        directory = os.open(name, _OPEN, dir_fd=parent)
    try:
        if os.fstat(directory).st_mode & _WRITE_AND_ENTER != _WRITE_AND_ENTER:
            with suppress(PermissionError):  # it belongs to another user; deleting in it fails with an error
                os.fchmod(directory, 0o700)
        level = _Level(name=name, identity=_identity(directory))
        with os.scandir(directory) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    level.directories.append(entry.name)
                else:
                    os.unlink(entry.name, dir_fd=directory)
    except BaseException:
        os.close(directory)
        raise
    return directory, level


def _identity(directory: int) -> tuple[int, int]:
    status = os.fstat(directory)
    return status.st_dev, status.st_ino
