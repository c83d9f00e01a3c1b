"""The output of a transform job, moved to its folder: whole files only, and without following a link there."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext, suppress

from smlocal.base.files import Opener, held_folder


def move_outputs(outputs: Iterator[tuple[str, str]], folder: str, *, links: bool, run_id: str) -> int:
    """Move files to paths below the folder, and replace what is there; returns how many there were.

    `outputs`: each file, and its path. One that does not exist is left out. `links`: the folder may be a link, or
    behind one.
    """
    if links:
        os.makedirs(folder, exist_ok=True)
    place: AbstractContextManager[str] = nullcontext(folder) if links else held_folder(folder, create=True)
    moved = 0
    with place as held:
        opener = Opener(held, trusted=True)
        try:
            for file, path in outputs:
                with suppress(FileNotFoundError):
                    os.stat(file)
                    _move(file, os.fsencode(path), opener, draft=os.fsencode(f".{run_id}.partial"))
                    moved += 1
        finally:
            opener.close()
    return moved


def _move(file: str, path: bytes, opener: Opener, *, draft: bytes) -> None:
    above, _, name = path.rpartition(b"/")
    parent = opener.directory(above, create=True)
    try:
        os.rename(file, name, dst_dir_fd=parent)
    except OSError as error:
        if error.errno != errno.EXDEV:
            error.filename2 = path
            raise
        _copy(file, name, parent, draft)


def _copy(file: str, name: bytes, parent: int, draft: bytes) -> None:
    """The same for a folder on another disk."""
    with suppress(FileNotFoundError):
        os.unlink(draft, dir_fd=parent)  # a killed process may have left it
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with open(file, "rb") as source, os.fdopen(os.open(draft, flags, 0o666, dir_fd=parent), "wb") as copy:
            shutil.copyfileobj(source, copy, 1 << 20)
        os.rename(draft, name, src_dir_fd=parent, dst_dir_fd=parent)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft, dir_fd=parent)
        raise
    os.unlink(file)
