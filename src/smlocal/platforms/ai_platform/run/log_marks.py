"""A line in the log of a replica for each of its containers after the first one, so that the log says the attempt."""

import os
import time
from collections.abc import Callable

from smlocal.engine.interface import Written
from smlocal.job.logs.log_file import LogFile


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
