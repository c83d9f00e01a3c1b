"""Collect what is known about a host that did not exit with 0, for `hints`."""

import os
from contextlib import suppress

from smlocal.job.decide.attempt_outcome import HostEnd
from smlocal.job.decide.hints import HostExit, exit_hints, is_full
from smlocal.job.host.host_run import HostRun
from smlocal.job.host.staging import mounts
from smlocal.planning.host_folders import host_directory

_TAIL_BYTES = 16384
"""Of the log, at its end."""


def hints_of(end: HostEnd, run: HostRun, *, grace: float, killed_early: bool, credentials: bool) -> list[str]:
    """Read the log and the plan; and the disk, if the log mentions a full one."""
    plan, limits = run.plan, run.host.limits
    facts = plan.image_facts
    log_tail = _tail(run.log)
    known = HostExit(
        exit_code=end.exit_code,
        log_tail=log_tail,
        first_process=" ".join(plan.entrypoint or (facts and facts.entrypoint) or plan.command or ()),
        oom_killed=end.oom_killed,
        signalled=end.signalled,
        killed=end.killed,
        grace=grace,
        killed_early=killed_early,
        credentials=credentials,
        user="" if facts is None else facts.user,
        root=plan.folders.root,
        data=plan.folders.data,
        mounted=tuple(mount.target for mount in mounts(plan, run.host)),
        shared_memory=limits.shared_memory,
        volume=limits.disk,
        free=_free(host_directory(plan, run.host)) if plan.engine.shares_folders and is_full(log_tail) else None,
    )
    return exit_hints(known)


def _tail(path: str) -> str:
    try:
        with open(path, "rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL_BYTES))
            return log.read().decode("utf-8", errors="replace")
    except OSError:
        return ""


def _free(folder: str) -> int | None:
    with suppress(OSError):
        disk = os.statvfs(folder)
        return disk.f_bavail * disk.f_frsize
    return None
