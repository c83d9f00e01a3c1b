"""Read what the algorithm left in `/opt/ml/output/failure`, whatever it left there."""

import os
import stat

from smlocal.contract import paths
from smlocal.contract.outcome.failure_reason import MESSAGE_BYTES
from smlocal.engine.interface import Engine
from smlocal.errors import EngineError

_ARCHIVE_BEGINNING = 65536
"""Enough for the headers and the part of the file that is used."""
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK


def read_failure(output_directory: str, engine: Engine, container: str, *, here: bool = True) -> bytes:
    """The file's beginning (one byte more than is used, to tell a cut one); a link, folder or FIFO is no file.

    `here` is False where the container runs on another machine.
    """
    if not here:
        return _through_engine(engine, container)
    try:
        descriptor = os.open(os.path.join(output_directory, "failure"), _OPEN)
    except PermissionError:
        return _through_engine(engine, container)
    except OSError:
        return b""
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return b""
        return os.read(descriptor, MESSAGE_BYTES + 1)
    finally:
        os.close(descriptor)


def _through_engine(engine: Engine, container: str) -> bytes:
    """Root's own file: only the engine may read it."""
    import tarfile
    from io import BytesIO

    beginning = bytearray()
    try:
        for piece in engine.get_archive(container, paths.FAILURE):
            beginning += piece
            if len(beginning) >= _ARCHIVE_BEGINNING:
                break
        with tarfile.open(fileobj=BytesIO(beginning), mode="r:") as archive:
            member = archive.next()
            content = archive.extractfile(member) if member is not None and member.isreg() else None
            return content.read(MESSAGE_BYTES + 1) if content is not None else b""
    except (EngineError, tarfile.TarError, OSError):
        return b""
