"""Write an archive or a folder under a hidden name, and rename it when it is complete; and why that ends early."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Thread

from smlocal.base.files import Check, copy_range, remove_tree
from smlocal.errors import ArtifactError


@contextmanager
def artifact_errors(path: str = "") -> Iterator[None]:
    """Raise an `OSError` as an `ArtifactError`. `path` is shown if the error has no file name."""
    try:
        yield
    except OSError as error:
        disk_full = error.errno in {errno.ENOSPC, errno.EDQUOT}
        reason = "Insufficient disk space" if disk_full else error.strerror or str(error)
        raise ArtifactError(
            f"Artifact upload failed:{reason}",
            details=[os.fsdecode(shown)] if (shown := error.filename or path) else (),
            remedy=["Free some space there or choose another output folder."] if disk_full else (),
        ) from error


# Work on artifacts calls a check several times a second, which raises when the work should stop.


class PackingStoppedError(Exception):
    """A second stop was requested while artifacts were packed. The files of the containers are kept."""


_PARTIAL, _REPLACED = ".partial", ".old"
_LONG_SYNC = 32 << 20
_CHECK_SECONDS = 0.2


def partial_path(destination: str, owner: str) -> str:
    """A new hidden path next to `destination`. `owner` tells it from those of other jobs after a crash."""
    folder, name = os.path.split(os.path.abspath(destination))
    return os.path.join(folder, f".{name}-{owner}-{os.urandom(4).hex()}{_PARTIAL}")


@contextmanager
def atomic_write(destination: str, *, owner: str) -> Iterator[str]:
    """The path to write to. It is renamed to `destination` at the end, and removed after an error.

    `ArtifactError` for an error of the file system.
    """
    partial = partial_path(destination, owner)
    folder = os.path.dirname(partial)
    with artifact_errors(folder):
        os.makedirs(folder, exist_ok=True)
        try:
            yield partial
            _replace(partial, destination)
        except BaseException:
            with suppress(OSError):
                remove_tree(partial)
            raise
        _sync_folder(folder)


def _replace(partial: str, destination: str) -> None:
    if not os.path.isdir(partial):
        os.rename(partial, destination)
        return
    replaced = partial.removesuffix(_PARTIAL) + _REPLACED  # a folder cannot be renamed over another one
    with suppress(FileNotFoundError):
        os.rename(destination, replaced)
    os.rename(partial, destination)
    remove_tree(replaced)


def _sync_folder(folder: str) -> None:
    """Make a rename in `folder` survive a power cut, if the file system can."""
    with suppress(OSError):
        directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


def remove_partial(folder: str, owner: str) -> None:
    """Remove what a killed process left. No other process may be writing for this owner."""
    try:
        names = os.listdir(folder)
    except OSError:  # nothing was written
        return
    for name in names:
        if name.startswith(".") and f"-{owner}-" in name and name.endswith((_PARTIAL, _REPLACED)):
            with suppress(OSError):
                remove_tree(os.path.join(folder, name))


def sync_file(descriptor: int, check: Check) -> None:
    """Write a new file to the disk, which takes seconds for one of gigabytes; `check` is called meanwhile.

    If it raises, or a signal does, the file is emptied: nobody wants it, and a process ends no sooner than its writes.
    """
    if os.fstat(descriptor).st_size < _LONG_SYNC:
        os.fsync(descriptor)
        return
    from concurrent.futures import Future, wait

    done: Future[None] = Future()
    duplicate = os.dup(descriptor)

    def sync() -> None:
        try:
            os.fsync(duplicate)
        except OSError as error:
            done.set_exception(error)
        else:
            done.set_result(None)
        finally:
            os.close(duplicate)

    try:
        Thread(target=sync, name="smlocal-sync", daemon=True).start()  # the kernel cannot be interrupted
        check()
        while not wait([done], _CHECK_SECONDS).done:
            check()
    except BaseException:
        with suppress(OSError):
            os.ftruncate(descriptor, 0)
        raise
    done.result()


# Copy the content of a file inside the kernel, with shared blocks if the file system can. Holes stay holes.


def copy_bytes(source: int, copy: int, copied: Callable[[int], None]) -> None:
    """Copy an open file into a new one; `copied` is called with the number of bytes of each piece, and may raise."""
    size = os.fstat(source).st_size
    done = 0
    for start, end in data_ranges(source, size):
        copied(start - done)
        os.lseek(copy, start, os.SEEK_SET)
        done = copy_range(source, copy, start, end, copied)
        if done < end:
            os.ftruncate(copy, done)
            return  # the file shrank, or is a special file with a wrong size
    os.ftruncate(copy, size)
    copied(size - done)
    if not size:  # files in /proc have size 0 and content
        copy_range(source, copy, 0, None, copied)


def data_ranges(source: int, size: int) -> Iterator[tuple[int, int]]:
    """The ranges of a file that are not holes. The position of the descriptor changes."""
    position = 0
    while position < size:
        try:
            start = os.lseek(source, position, os.SEEK_DATA)
            end = os.lseek(source, start, os.SEEK_HOLE)
        except OSError as error:
            if error.errno == errno.ENXIO:
                return
            start, end = position, size  # the file system does not support holes
        if start >= size:
            return
        position = min(end, size)
        yield start, position
