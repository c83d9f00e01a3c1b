"""Read the file in which a program says why it failed, whatever the program has made of it."""

import os
import stat
from contextlib import closing

from smlocal.engine.interface import Engine
from smlocal.errors import EngineError

MESSAGE_BYTES = 1024
"""What is used of it."""
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK


def read_failure(path: str, engine: Engine, container: str, *, in_container: str, shared: bool = True) -> bytes:
    """The file's beginning, with one byte more than is used: it shows that the file is longer.

    Empty if it is not a regular file. `shared`: the folder is one of this machine, where the file is `path`.
    """
    if not shared:
        return _through_engine(engine, container, in_container)
    try:
        descriptor = os.open(path, _OPEN)
    except PermissionError:
        return _through_engine(engine, container, in_container)
    except OSError:
        return b""
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return b""
        return os.read(descriptor, MESSAGE_BYTES + 1)
    finally:
        os.close(descriptor)


def _through_engine(engine: Engine, container: str, path: str) -> bytes:
    """For a file that only root may read, or that is in a volume of the engine."""
    from smlocal.foreign_archive.errors import ArchiveError
    from smlocal.foreign_archive.reading import ForeignArchive  # rarely needed

    try:
        with closing(engine.get_archive(container, path)) as pieces:
            archive = ForeignArchive(pieces, compressed=False)
            member = next(iter(archive), None)
            return archive.read(MESSAGE_BYTES + 1) if member is not None and member.kind == "file" else b""
    except (EngineError, ArchiveError):
        return b""
