"""Reasons why work on artifacts ends early: errors of the file system, in the words of a failed upload, and a stop."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

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

Check = Callable[[], None]
"""Called between pieces of long work; raises `PackingStoppedError` once a stop was requested again."""


class PackingStoppedError(Exception):
    """A second stop was requested while artifacts were packed. The files of the containers are kept."""


def no_check() -> None:
    """For work that cannot be stopped."""
