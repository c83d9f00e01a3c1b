"""A file that the user chooses for a result: checked before there is one, then written completely or not at all."""

import os
import stat

from smlocal.base.files import replace_file
from smlocal.errors import OutputUnusableError


def usable_report(path: str | None) -> str | None:
    """The absolute path of a report that can be written, if there is to be one; `OutputUnusableError` otherwise."""
    if path is None:
        return None

    check_report_path(path := os.path.abspath(path))
    return path


def check_report_path(path: str) -> None:
    """Raise `OutputUnusableError` if a report could not be written; called before the job runs."""
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise OutputUnusableError(f"the report {path} cannot be written: it is a folder", remedy=["Name a file in it."])
    if not os.path.isdir(folder):
        raise OutputUnusableError(
            f"the report {path} cannot be written: there is no folder {os.path.dirname(path) or folder}",
            remedy=["Make the folder first."],
        )
    if not os.access(folder, os.W_OK | os.X_OK) and not _special(path):
        raise OutputUnusableError(
            f"the report {path} cannot be written: no right to write to {os.path.dirname(path) or folder}",
            remedy=["Choose another file."],
        )


def write_report(path: str, text: str) -> None:
    """Write a report, or raise `OutputUnusableError`."""
    check_report_path(path)
    data = text.encode()
    try:
        if _special(path):
            with open(path, "wb") as file:
                file.write(data)
        else:
            replace_file(os.path.realpath(path), data, synced=True)
    except OSError as error:
        raise OutputUnusableError(f"the report {path} cannot be written: {error.strerror or error}") from error


def _special(path: str) -> bool:
    """True for terminals, pipes and devices such as /dev/stderr, which a rename would replace by a file."""
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False
