"""Files that are written whole or not at all, and how much room a disk has."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

DRAFT = ".partial"
"""The end of the name of a file that is being written.

A process that is killed leaves it, and the file that had the name.
"""
_LONGEST_NAME = 200
"""Bytes of a file's name in that of its draft: a name has 255 at most."""


@contextmanager
def replacement(path: str, *, mode: int = 0o666, synced: bool = False) -> Iterator[BinaryIO]:
    """A new file, which gets the name `path` at the end of the block. After an error, what had the name stays.

    The new file has `mode`, less the umask, whatever an earlier one had. `synced`: it survives a power cut.
    """
    folder, name = os.path.split(path)
    short = os.fsdecode(os.fsencode(name)[:_LONGEST_NAME])
    draft = os.path.join(folder, f".{short}.{os.getpid()}-{os.urandom(4).hex()}{DRAFT}")
    try:
        with open(draft, "xb", opener=lambda path, flags: os.open(path, flags, mode)) as file:
            yield file
            if synced:
                file.flush()
                os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise


def replace_file(path: str, content: bytes, *, mode: int = 0o666, synced: bool = False) -> None:
    """Write a whole file, as `replacement` does."""
    with replacement(path, mode=mode, synced=synced) as file:
        file.write(content)


def free_bytes(path: str) -> int | None:
    """Free bytes of the disk where `path` is or will be; None if they are not known."""
    from shutil import disk_usage  # it costs 2 ms, and only commands that run jobs ask

    while not os.path.exists(path) and path != os.path.dirname(path):
        path = os.path.dirname(path)
    try:
        return disk_usage(path or ".").free
    except OSError:
        return None
