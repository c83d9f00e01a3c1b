"""Collect what is known about a host that failed, for its hint."""

from smlocal.base.files import free_bytes
from smlocal.errors import EngineError
from smlocal.job.decide.attempt_outcome import HostEnd
from smlocal.job.decide.hints import HostExit, exit_hint, is_full
from smlocal.job.decide.start_hints import start_hint
from smlocal.job.decide.symptoms import Trouble
from smlocal.job.host.ask_platform import ask_platform, log_tail
from smlocal.job.host.failure_file import read_failure
from smlocal.job.host.host_run import HostRun
from smlocal.job.host.staging import mounts
from smlocal.planning.host_folders import host_directory


def hint_of_exit(end: HostEnd, run: HostRun, *, grace: float, killed_early: bool, credentials: bool) -> str | None:
    """Read the log and the plan; the disk, if the log mentions a full one; the container, if it is about a program."""
    plan, limits = run.plan, run.host.limits
    facts = plan.image_facts
    tail = log_tail(run)
    known = HostExit(
        exit_code=end.exit_code,
        log_tail=tail,
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
        free=free_bytes(host_directory(plan, run.host)) if plan.engine.shares_folders and is_full(tail) else None,
    )
    trouble = Trouble.NOT_STOPPED if end.killed else Trouble.FAILED
    return exit_hint(known, lambda: ask_platform(run, trouble, tail, failure=_failure(run)))


def hint_of_start(error: EngineError, run: HostRun) -> str | None:
    """Of a host whose container was not started: read the container."""
    mounted = [mount.target for mount in mounts(run.plan, run.host)]
    return start_hint(error.sentence, mounted, lambda: ask_platform(run, Trouble.NOT_STARTED, error.sentence))


def _failure(run: HostRun) -> str:
    plan, folders = run.plan, run.plan.folders
    if not folders.failure:
        return ""
    path = host_directory(plan, run.host) + folders.below(folders.failure)
    shared = plan.engine.shares_folders
    content = read_failure(path, run.engine, run.container.id, in_container=folders.failure, shared=shared)
    return content.decode("utf-8", errors="replace")
