"""Ask the platform of a job why a program failed, or left nothing."""

import os

from smlocal.job.decide.symptoms import Symptoms, Trouble
from smlocal.job.host.host_run import HostRun
from smlocal.job.platform import platform_named

_TAIL_BYTES = 16384
"""Of the log, at its end."""


def ask_platform(run: HostRun, trouble: Trouble, log: str, *, failure: str = "") -> str | None:
    """What it knows about a host whose container is still there."""
    symptoms = Symptoms(
        trouble=trouble,
        log=log,
        failure=failure,
        archive=lambda path: run.engine.get_archive(run.container.id, path, small=True),
    )
    return platform_named(run.plan.platform).hint(run.plan, run.host, symptoms)


def log_tail(run: HostRun) -> str:
    """The end of the log; empty if there is none."""
    try:
        with open(run.log, "rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL_BYTES))
            return log.read().decode("utf-8", errors="replace")
    except OSError:
        return ""
