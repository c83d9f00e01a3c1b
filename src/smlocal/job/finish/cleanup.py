"""Leave nothing on the engine and nothing undeletable on disk; survive an engine that is gone."""

import os
import time
from collections.abc import Callable
from contextlib import suppress

from smlocal.engine.interface import CREDENTIALS_LABEL, Engine, Resource
from smlocal.engine.timeouts import chosen_timeouts
from smlocal.errors import EngineError, MachineNotReadyError
from smlocal.job.labels import owned_by
from smlocal.planning.model import JobPlan
from smlocal.removal import remove_tree

_ENGINE_POLL_SECONDS = 0.5
_FEW = 3
"""Things that are removed one after the other: threads would cost more than they save."""


def clear_engine(
    engine: Engine, job: str, run_id: str, *, engine_lost: bool, given_up: Callable[[], bool] = lambda: False
) -> list[str]:
    """Remove everything that carries the job's labels; returns what could not be removed, in words.

    An engine that was lost is often only restarting, so it gets a while to come back, unless nobody wants to wait.
    """
    deadline = time.monotonic() + (chosen_timeouts().back if engine_lost else 0.0)
    while True:
        try:
            return _clear(engine, job, run_id)
        except (EngineError, MachineNotReadyError) as error:
            if time.monotonic() >= deadline or given_up():
                why = f"the engine is unreachable ({error.sentence}); run smlocal recover later"
                return [f"not cleaned up: {why}"]
            time.sleep(_ENGINE_POLL_SECONDS)


def clear_disk(job_directory: str) -> list[str]:
    """Remove what was mounted; logs and documents stay. Returns what could not be removed."""
    left = []
    _unmount(f"{job_directory}/staged")
    if os.path.isdir(f"{job_directory}/volumes"):
        from smlocal.job.host.volume import unmount_volumes  # few jobs have one

        with suppress(OSError):  # what is still mounted cannot be removed, and is told by that
            unmount_volumes(job_directory)
    for folder in ("hosts", "staged", "volumes"):
        path = f"{job_directory}/{folder}"
        try:
            remove_tree(path)
        except OSError as error:
            left.append(f"{path} could not be removed: {error.strerror}")
    return left


def _unmount(staged: str) -> None:
    """Take away what a supervisor that was killed has mounted; only FastFile channels of S3 have mounts."""
    if os.path.isdir(f"{staged}/fuse-0"):
        from smlocal.channels.fastfile.unmount import unmount_below

        unmount_below(staged)


def clear_attempt(engine: Engine, plan: JobPlan) -> None:
    """Make room for another try at the same job; what cannot be removed now is told at the end."""
    with suppress(EngineError, MachineNotReadyError):
        _clear(engine, plan.name, plan.run_id)
    clear_disk(plan.job_directory)


def _clear(engine: Engine, job: str, run_id: str) -> list[str]:
    owned = owned_by(engine, job, run_id)
    marks = {resource.id for resource in owned if CREDENTIALS_LABEL in resource.labels}
    if not marks:
        return _remove(engine, owned)
    from smlocal.credentials.address import released  # few jobs have any

    try:
        with released(engine, marks):
            return _remove(engine, owned)
    except EngineError as error:
        if not error.status:
            raise
        return [f"the network of the credentials could not be removed: {error.sentence}", *_remove(engine, owned)]


def _remove(engine: Engine, resources: list[Resource]) -> list[str]:
    if len(resources) > _FEW:
        from smlocal.job.finish.parallel_removal import remove_at_once  # of jobs with several hosts, or many channels

        return remove_at_once(engine, resources)
    left = []
    for resource in resources:
        try:
            engine.remove(resource)
        except EngineError as error:
            left.append(f"{resource.kind} {resource.id} could not be removed: {error.sentence}")
    return left
