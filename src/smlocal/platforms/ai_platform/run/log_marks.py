"""A line in the log of a replica for each of its containers after the first one, so that the log says the attempt."""

import time
from collections.abc import Callable

from smlocal.engine.interface import Written
from smlocal.job.logs.log_file import LogFile


def mark_log(path: str, show: Callable[[Written], None], *, attempt: int, restart: int) -> None:
    """Write the line, and show it as output of the replica."""
    what = f"attempt {attempt} of the job" + (f", restart {restart}" if restart else "")
    line = f"smlocal: {what}\n".encode()
    log = LogFile(path)
    try:
        log.write(line, time.time())
    finally:
        log.close()
    show(Written(line, [(1, line)]))
