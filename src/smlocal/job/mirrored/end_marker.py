"""The marker that tells readers of the debugger's tensors that no more of them follow."""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from smlocal.artifacts.mirror.target import PathConflictError, Target
from smlocal.planning.model import JobPlan

if TYPE_CHECKING:
    from smlocal.job.mirrored.folders import MirroredFolder

_RETRY_SECONDS = 10.0


def remove_end_marker(plan: JobPlan, warn: Callable[[str], None]) -> None:
    """Remove the marker of an earlier job of this name, at which readers would stop before the first tensor."""
    for folder in _marked_folders(plan, lambda: False):
        try:
            if folder.target.exists():
                with folder.target.open() as opened:
                    opened.delete(os.fsencode(folder.end_marker or ""))
        except OSError as error:
            warn(f"the end marker of an earlier job could not be removed: {_described(error)}")


def mark_ends(plan: JobPlan, cancelled: Callable[[], bool]) -> list[str]:
    """Put the marker where a job has ended without saving its folders; returns what failed, as sentences."""
    failures = []
    for folder in _marked_folders(plan, cancelled):
        try:
            put_end_marker(folder, folder.target)
        except OSError as error:
            failures.append(f"readers of the tensors do not see that they are complete: {_described(error)}")
    return failures


def put_end_marker(folder: "MirroredFolder", target: Target) -> None:
    """Add the marker, if the folder has one. It must be the last file that is written; `OSError` if that fails."""
    if folder.end_marker is None:
        return
    from tempfile import TemporaryFile

    # If there is a folder of that name: readers only ask whether the name exists.
    with TemporaryFile() as empty, suppress(PathConflictError), target.open() as opened:
        opened.write(os.fsencode(folder.end_marker), empty.fileno(), mtime=int(time.time()))


def _marked_folders(plan: JobPlan, cancelled: Callable[[], bool]) -> "list[MirroredFolder]":
    if not any(each.end_marker for each in plan.collectors):
        return []
    from smlocal.job.mirrored.folders import Access, mirrored_folders  # most jobs have no such folder

    access = Access(retry_seconds=_RETRY_SECONDS, cancelled=cancelled)
    return [folder for folder in mirrored_folders(plan, access) if folder.end_marker is not None]


def _described(error: OSError) -> str:
    where = "" if error.filename is None else f" ({os.fsdecode(error.filename)})"
    return f"{error.strerror or error}{where}"
