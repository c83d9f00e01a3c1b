"""Remove everything of a job from its engines, and what was mounted from the disk, also if an engine was lost."""

import os
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress

from smlocal.base.parallel import run_each, run_parallel
from smlocal.engine.engines import Engines
from smlocal.engine.interface import CREDENTIALS_LABEL, RULE_LABEL, Engine, Resource, ResourceKind
from smlocal.engine.timeouts import chosen_timeouts
from smlocal.errors import EngineError, MachineNotReadyError
from smlocal.job.labels import owned_by
from smlocal.planning.model import JobPlan
from smlocal.removal import remove_tree

_ENGINE_POLL_SECONDS = 0.5
_FEW = 3
"""So many resources are removed one after the other: threads would cost more than they save."""
_AT_ONCE = 8


def clear_engines(
    engines: Engines,
    job: str,
    run_id: str,
    *,
    engine_lost: bool,
    cancelled: Callable[[], bool] = lambda: False,
    rules: bool = True,
) -> dict[str, list[str]]:
    """Remove everything with the job's labels. `rules`: those too.

    Returns, by the address of the engine, what could not be removed, as sentences. A lost engine is often only
    restarting. It has some time to come back, unless the user wants no wait (`cancelled`).
    """
    deadline = time.monotonic() + (chosen_timeouts().back if engine_lost else 0.0)

    def clear(engine: Engine, kinds: Collection[ResourceKind]) -> list[str]:
        return _clear_until(engine, job, run_id, deadline, cancelled, rules=rules, kinds=kinds)

    if len(engines) == 1:
        failures = clear(engines.first, tuple(ResourceKind))
        return {engines.addresses[0]: failures} if failures else {}
    from smlocal.job.finish.swarm_cleanup import clear_several  # most jobs have one engine

    return clear_several(engines, clear)


def _clear_until(
    engine: Engine,
    job: str,
    run_id: str,
    deadline: float,
    cancelled: Callable[[], bool],
    *,
    rules: bool,
    kinds: Collection[ResourceKind],
) -> list[str]:
    while True:
        try:
            return _clear(engine, job, run_id, rules=rules, kinds=kinds)
        except (EngineError, MachineNotReadyError) as error:
            if time.monotonic() >= deadline or cancelled():
                why = f"the engine is unreachable ({error.sentence}); run smlocal recover later"
                return [f"not cleaned up: {why}"]
            time.sleep(_ENGINE_POLL_SECONDS)


def clear_disk(job_directory: str) -> list[str]:
    """Remove what was mounted; logs and documents stay. Returns what could not be removed, as sentences."""
    failures = []
    if os.path.isdir(f"{job_directory}/staged/fuse-0"):  # a FastFile channel from S3
        from smlocal.channels.fastfile.unmount import unmount_below

        unmount_below(f"{job_directory}/staged")
    if os.path.isdir(f"{job_directory}/volumes"):
        from smlocal.job.host.volume import unmount_volumes  # few jobs have one

        with suppress(OSError):  # if it is still mounted, it cannot be removed either
            unmount_volumes(job_directory)
    for folder in ("hosts", "staged", "volumes"):
        path = f"{job_directory}/{folder}"
        try:
            remove_tree(path)
        except OSError as error:
            failures.append(f"{path} could not be removed: {error.strerror}")
    return failures


def clear_attempt(engines: Engines, plan: JobPlan) -> None:
    """Clean up before staging is tried again. What cannot be removed now is reported at the end of the job."""
    clear_engines(engines, plan.name, plan.run_id, engine_lost=False, rules=False)
    clear_disk(plan.job_directory)


def _clear(engine: Engine, job: str, run_id: str, *, rules: bool, kinds: Collection[ResourceKind]) -> list[str]:
    owned = [
        each
        for each in owned_by(engine, job, run_id)
        if each.kind in kinds and (rules or RULE_LABEL not in each.labels)
    ]
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
    failures: list[str] = []

    def remove(resource: Resource) -> None:
        try:
            engine.remove(resource)
        except EngineError as error:
            if not error.status:
                raise
            failures.append(f"{resource.kind} {resource.id} could not be removed: {error.sentence}")

    if len(resources) > _FEW:
        _remove_many(engine, resources, remove)
    else:
        for resource in resources:
            remove(resource)
    return failures


def _remove_many(engine: Engine, resources: Sequence[Resource], remove: Callable[[Resource], None]) -> None:
    """Containers before the volumes that they use; networks, which take 0.17 s each, meanwhile."""
    by_kind = {kind: [each for each in resources if each.kind is kind] for kind in ResourceKind}

    def remove_others() -> None:
        for kind in (ResourceKind.CONTAINER, ResourceKind.VOLUME):
            run_parallel(remove, by_kind[kind], at_once=_AT_ONCE)

    # A container may still be using a network: errors do not count, and it is removed again below.
    run_each(engine.remove, by_kind[ResourceKind.NETWORK], meanwhile=remove_others)
    for network in by_kind[ResourceKind.NETWORK]:
        remove(network)
