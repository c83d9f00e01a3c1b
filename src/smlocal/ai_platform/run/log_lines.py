"""Lines that smlocal itself writes into logs: attempts, and advice for a long job that saved no checkpoint."""

import os
import time
from collections.abc import Callable, Mapping
from typing import Final

from smlocal.ai_platform.locations import mounted_path
from smlocal.engine.interface import Written
from smlocal.jobs.logs.log_file import LogFile

_FOUR_HOURS: Final = 4 * 3600


def checkpoint_advice(
    buckets: Mapping[str, str], environment: Mapping[str, str], *, began: float, ended: float
) -> str | None:
    """For a job that ran for more than four hours and wrote nothing where checkpoints belong; None for others.

    They belong in AIP_CHECKPOINT_DIR. A job without it may save them in any of its buckets, which are folders here.
    """
    if ended - began <= _FOUR_HOURS:
        return None
    location = environment.get("AIP_CHECKPOINT_DIR")
    folders = list(buckets.values()) if location is None else [_folder_of(location, buckets)]
    if any(
        _is_newer(os.path.join(top, name), began)
        for each in folders
        for top, _, names in os.walk(each)
        for name in names
    ):
        return None
    where = location or "a bucket"
    return (
        f"it ran for more than 4 hours and wrote nothing to {where}; on the service a job should save a checkpoint at"
        " least every 4 hours, because its replicas are restarted"
    )


def _folder_of(location: str, buckets: Mapping[str, str]) -> str:
    """The folder of this machine that a location is, in the innermost bucket folder that has it."""
    path = mounted_path(location)
    around = max((each for each in buckets if path.startswith(f"{mounted_path(each)}/")), key=len)
    return os.path.join(buckets[around], path.removeprefix(f"{mounted_path(around)}/"))


def _is_newer(path: str, began: float) -> bool:
    try:
        return os.lstat(path).st_mtime >= began
    except OSError:  # removed meanwhile
        return False


def mark_log(path: str, text: str, show: Callable[[Written], None]) -> None:
    """Write the line, and show it as output of the replica.

    If the log ends with it, an earlier supervisor was killed before the container wrote anything.
    """
    line = f"smlocal: {text}\n".encode()
    end = _end(path, len(line))
    if end == line:
        return
    if end and not end.endswith(b"\n"):
        line = b"\n" + line
    log = LogFile(path)
    try:
        log.write(line, time.time())
    finally:
        log.close()
    show(Written(line, [(1, line)]))


def _end(path: str, size: int) -> bytes:
    try:
        with open(path, "rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - size))
            return log.read()
    except OSError:
        return b""
