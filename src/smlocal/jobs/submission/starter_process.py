"""The process that starts jobs: it has imported what a job needs, has no threads, and forks once for each job.

Started as `python -m smlocal.jobs.submission.starter_process HOME`. It reads names of jobs and their kinds from
standard input, a line each, and answers each with a line on standard output: empty if the job has a supervisor now,
else the error as a string in JSON. It ends when its input ends. The jobs do not: each has a session of its own.

The first job of a kind imports the modules of its kind itself. Then this process does, so that no other job has to.
"""

import gc
import json
import signal
import sys

from smlocal.errors import SmlocalError
from smlocal.jobs.control import adopt, detach
from smlocal.jobs.control.orphans import adopt_orphan
from smlocal.jobs.kind import OF_JOBS, module_of

_READY_BEFORE = adopt
"""Imported here, so that no job has to import them."""


def start_jobs(home: str) -> None:
    """Start each job whose name is read, until the input ends."""
    detach.process_may_fork = True
    _share()
    known = set[str]()
    while line := sys.stdin.buffer.readline():
        name, _, kind = line.decode().strip().partition(" ")
        sys.stdout.write(f"{_start(home, name)}\n")
        sys.stdout.flush()
        if kind and kind not in known:
            known.add(kind)
            for module in OF_JOBS:
                module_of(kind, module)
            _share()


def _share() -> None:
    """Keep what is imported in memory that all jobs share."""
    gc.collect()
    gc.freeze()


def _start(home: str, name: str) -> str:
    try:
        detach.start_in_background(adopt_orphan, home=home, name=name)
    except SmlocalError as error:
        return json.dumps(error.with_details)
    except Exception as error:  # noqa: BLE001 - the process goes on, and its parent reports the error
        return json.dumps(f"{type(error).__name__}: {error}")
    return ""


if __name__ == "__main__":
    # Signals that the thread of the caller had blocked would never arrive.
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    start_jobs(sys.argv[1])
