"""A report appears whole or not at all; what is no regular file, such as /dev/stderr, is written to as it is."""

import os
import stat
from contextlib import suppress

from smlocal.errors import OutputUnusableError


def check_report_path(path: str) -> None:
    """Say before the job runs that its report could not be written."""
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise OutputUnusableError(f"the report {path} cannot be written: it is a folder", remedy=["Name a file in it."])
    if not os.path.isdir(folder):
        raise OutputUnusableError(
            f"the report {path} cannot be written: there is no folder {os.path.dirname(path) or folder}",
            remedy=["Make the folder first."],
        )
    if not os.access(folder, os.W_OK | os.X_OK) and not _odd(path):
        raise OutputUnusableError(
            f"the report {path} cannot be written: no right to write to {os.path.dirname(path) or folder}",
            remedy=["Choose another file."],
        )


def write_report(path: str, text: str) -> None:
    """Write it; `OutputUnusableError` when that cannot be done."""
    check_report_path(path)
    data = text.encode()
    try:
        if _odd(path):
            with open(path, "wb") as file:
                file.write(data)
        else:
            _replace(os.path.realpath(path), data)
    except OSError as error:
        raise OutputUnusableError(f"the report {path} cannot be written: {error.strerror or error}") from error


def _replace(path: str, data: bytes) -> None:
    folder, name = os.path.split(path)
    draft = os.path.join(folder, f".{name[:200]}.{os.getpid()}.partial")
    try:
        with open(draft, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise


def _odd(path: str) -> bool:
    """A terminal, a pipe, a device: a rename would put a file in its place."""
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False
