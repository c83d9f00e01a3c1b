"""The known facts about a host that failed or left nothing: its log, its failure file, and its platform's hints."""

import os
import stat
from contextlib import closing
from typing import TYPE_CHECKING

from smlocal.base.at_use import at_use
from smlocal.base.files import free_bytes
from smlocal.engine.interface import Engine
from smlocal.errors import EngineError
from smlocal.jobs.decide.attempt_outcome import HostEnd, Symptoms, Trouble
from smlocal.jobs.host.host_run import HostRun
from smlocal.jobs.host.staging import mounts
from smlocal.jobs.kinds import running
from smlocal.jobs.planning.aspects.limits.plan import own_memory_limit
from smlocal.jobs.planning.model import host_directory

if TYPE_CHECKING:
    from smlocal.base.foreign_archive import archive as archives
    from smlocal.base.foreign_archive import stream
    from smlocal.jobs.decide.hints import HostExit, exit_hint, is_full, start_hint
else:
    archives = at_use("smlocal.base.foreign_archive.archive")
    stream = at_use("smlocal.base.foreign_archive.stream")
    HostExit = at_use("smlocal.jobs.decide.hints", "HostExit")
    exit_hint = at_use("smlocal.jobs.decide.hints", "exit_hint")
    is_full = at_use("smlocal.jobs.decide.hints", "is_full")
    start_hint = at_use("smlocal.jobs.decide.hints", "start_hint")

_TAIL_BYTES = 16384
"""The bytes at the end of the log that are read."""
MESSAGE_BYTES = 1024
"""The part of them that is used."""
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK


def hint_of_exit(end: HostEnd, run: HostRun, *, grace: float, killed_early: bool, credentials: bool) -> str | None:
    """Read the log and the plan; the disk, if the log mentions a full one; the container, if it is about a program."""
    plan, limits = run.plan, run.host.limits
    program = run.host.program or plan.image
    facts = program.facts
    tail = log_tail(run)
    known = HostExit(
        exit_code=end.exit_code,
        log_tail=tail,
        first_process=" ".join(program.entrypoint or (facts and facts.entrypoint) or program.command or ()),
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
        memory=own_memory_limit(run.host.host, limits, memory_mib=plan.engines.machine.memory_mib),
        volume=limits.disk,
        free=free_bytes(host_directory(plan, run.host))
        if plan.engines.first.shares_folders and is_full(tail)
        else None,
    )
    trouble = Trouble.NOT_STOPPED if end.killed else Trouble.FAILED
    return exit_hint(
        known, lambda: ask_platform(run, trouble, tail, failure=failure_file(run).decode("utf-8", "replace"))
    )


def hint_of_start(error: EngineError, run: HostRun) -> str | None:
    """A hint for a host whose container was not started: read the container."""
    mounted = [mount.target for mount in mounts(run.plan, run.host)]
    return start_hint(error.sentence, mounted, lambda: ask_platform(run, Trouble.NOT_STARTED, error.sentence))


def ask_platform(run: HostRun, trouble: Trouble, log: str, *, failure: str = "") -> str | None:
    """The platform's hint about a host whose container is still there."""
    symptoms = symptoms_of(run, trouble, log, failure=failure)
    return running(run.plan.platform).hint(run.plan, run.host, symptoms)


def symptoms_of(run: HostRun, trouble: Trouble, log: str = "", *, failure: str = "") -> Symptoms:
    """The symptoms, with functions that read the container."""
    return Symptoms(
        trouble=trouble,
        log=log,
        failure=failure,
        archive=lambda path: run.engine.get_archive(run.container.id, path, small=True),
        changed=lambda: run.engine.changes(run.container.id, soon=True) if wrote_elsewhere(run) else (),
    )


def wrote_elsewhere(run: HostRun) -> bool:
    """Whether the container added files outside mounts. False if the engine cannot tell.

    Only the first host is checked, as the comparison with the image may take seconds.
    """
    if run.host is not run.plan.hosts[0] or run.plan.engines.first.place is not None:
        return False
    try:
        return run.engine.written_bytes(run.container.id) > 0
    except EngineError:
        return False


def log_tail(run: HostRun) -> str:
    """The end of the log; empty if there is none."""
    try:
        with open(run.log, "rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL_BYTES))
            return log.read().decode("utf-8", errors="replace")
    except OSError:
        return ""


def failure_file(run: HostRun) -> bytes:
    """The program's text in the file in which it says why it failed; empty if there is none."""
    plan, folders = run.plan, run.plan.folders
    if not folders.failure:
        return b""
    path = host_directory(plan, run.host) + folders.below(folders.failure)
    shared = plan.engines.first.shares_folders
    return _read_failure(path, run.engine, run.container.id, in_container=folders.failure, shared=shared)


def _read_failure(path: str, engine: Engine, container: str, *, in_container: str, shared: bool) -> bytes:
    """The file's beginning, with one byte more than is used: it shows that the file is longer.

    Empty if it is not a regular file. `shared`: the folder is one of this machine, where the file is `path`.
    """
    if not shared:
        return _through_engine(engine, container, in_container)
    try:
        descriptor = os.open(path, _OPEN)
    except PermissionError:
        return _through_engine(engine, container, in_container)
    except OSError:
        return b""
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return b""
        return os.read(descriptor, MESSAGE_BYTES + 1)
    finally:
        os.close(descriptor)


def _through_engine(engine: Engine, container: str, path: str) -> bytes:
    """For a file that only root may read, or that is in a volume of the engine."""
    try:
        with closing(engine.get_archive(container, path)) as pieces:
            archive = archives.ForeignArchive(pieces, compressed=False)
            member = next(iter(archive), None)
            return archive.read(MESSAGE_BYTES + 1) if member is not None and member.kind == "file" else b""
    except (EngineError, stream.ArchiveError):
        return b""
