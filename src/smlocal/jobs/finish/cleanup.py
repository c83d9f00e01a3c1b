"""Remove everything of a job from its engines and from the disk, even if an engine was lost.

The leftovers of ended jobs on an engine that was unreachable are removed by the next smlocal that reaches it.
"""

import os
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from smlocal.base.at_use import at_use
from smlocal.base.files import remove_tree
from smlocal.base.threads import run_each, run_parallel
from smlocal.engine.engines import Engines, engines_at
from smlocal.engine.http import chosen_timeouts
from smlocal.engine.interface import CREDENTIALS_LABEL, RULE_LABEL, Engine, Resource, ResourceKind
from smlocal.errors import (
    EarlierPlanError,
    EngineError,
    JobLeftoversError,
    JobUnknownError,
    MachineNotReadyError,
    PlaceRefusedError,
)
from smlocal.jobs.containers import owned_by
from smlocal.jobs.documents import RECALL
from smlocal.jobs.finish.describe import has_kept_containers, unmark_containers_kept
from smlocal.jobs.host.staging import unmount_volumes
from smlocal.jobs.planning.model import JobPlan, RecordedPlan
from smlocal.jobs.planning.recall import recall
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.records import LeftOnEngine

if TYPE_CHECKING:
    from smlocal.jobs.control.found_containers import hosts_with_containers
    from smlocal.jobs.finish.artifacts import restore_ownership
else:
    restore_ownership = at_use("smlocal.jobs.finish.artifacts", "restore_ownership")
    hosts_with_containers = at_use("smlocal.jobs.control.found_containers", "hosts_with_containers")

_ENGINE_POLL_SECONDS = 0.5
_FEW = 3
"""So many resources are removed one after the other: threads would cost more than they save."""
_AT_ONCE = 8
_BEFORE_NETWORKS = (ResourceKind.CONTAINER, ResourceKind.VOLUME)
_ENDS_SECONDS = 10.0
_POLL_SECONDS = 0.05


def clear_engines(
    engines: Engines,
    job: str,
    run_id: str,
    *,
    engine_lost: bool,
    cancelled: Callable[[], bool] = lambda: False,
    rules: bool = True,
    first: Callable[[Engine], None] = lambda _: None,
) -> dict[str, list[str]]:
    """Remove everything with the job's labels. `rules`: those too. `first` is called with each engine before.

    Returns, by the address of the engine, the parts that could not be removed, as sentences. A lost engine is often
    only restarting. It has some time to come back, unless the user wants no wait (`cancelled`).
    """
    deadline = time.monotonic() + (chosen_timeouts().back if engine_lost else 0.0)

    def remove(engine: Engine, kinds: Collection[ResourceKind]) -> list[str]:
        first(engine)
        return _clear(engine, job, run_id, rules=rules, kinds=kinds)

    def clear(engine: Engine, kinds: Collection[ResourceKind]) -> list[str]:
        return _until_there(lambda: remove(engine, kinds), deadline, cancelled)

    if len(engines) == 1:
        failures = clear(engines.first, tuple(ResourceKind))
        return {engines.addresses[0]: failures} if failures else {}

    return _clear_several(engines, clear)


def _until_there(clear: Callable[[], list[str]], deadline: float, cancelled: Callable[[], bool]) -> list[str]:
    while True:
        try:
            return clear()
        except PlaceRefusedError as error:
            return [f"not cleaned up: {error.sentence}; run smlocal recover later"]
        except (EngineError, MachineNotReadyError) as error:
            if time.monotonic() >= deadline or cancelled():
                why = f"the engine is unreachable ({error.sentence}); run smlocal recover later"
                return [f"not cleaned up: {why}"]
            time.sleep(_ENGINE_POLL_SECONDS)


def _clear_several(
    engines: Engines, clear: Callable[[Engine, Collection[ResourceKind]], list[str]]
) -> dict[str, list[str]]:
    """Call `clear` for each engine and kind; returns the parts that could not be removed, by engine address."""
    failures: dict[str, list[str]] = {}

    def clear_kinds(address: str, kinds: Collection[ResourceKind]) -> None:
        failed = clear(engines.at(address), kinds)
        if failed:
            failures[address] = [*failures.get(address, ()), *failed]

    run_parallel(lambda address: clear_kinds(address, _BEFORE_NETWORKS), engines.addresses, at_once=len(engines))
    there = [address for address in engines.addresses if address not in failures]  # the others have just not answered
    # At the same time: a worker waits for the networks that are removed on a manager.
    run_parallel(lambda address: clear_kinds(address, (ResourceKind.NETWORK,)), there, at_once=len(engines))
    return failures


def clear_disk(job_directory: str) -> list[str]:
    """Remove the mounted folders; logs and documents stay.

    Returns the parts that could not be removed, as sentences.
    """
    failures = []
    if os.path.isdir(f"{job_directory}/staged/fuse-0"):  # a FastFile channel from S3
        from smlocal.data.channels.fastfile.availability import unmount_below

        unmount_below(f"{job_directory}/staged")
    if os.path.isdir(f"{job_directory}/volumes"):
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
    """Clean up before staging is tried again. Anything that cannot be removed now is reported at the end of the job."""
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
    from smlocal.jobs.credentials.listener import released  # few jobs have any

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


def clear_this_engine(store: Store, engine: Engine) -> Iterator[str]:
    """Remove what ended jobs left on this engine; yields the names of those that did. Failures are tried again."""
    with suppress(EngineError, MachineNotReadyError):
        address = engine.facts().address
        for left in store.left_on_engines():
            if left.engine == address:
                found = bool(owned_by(engine, left.name, left.run_id))
                if not _clear_left(store, Engines({address: engine}), left) and found:
                    yield left.name


def clear_engine_of(
    store: Store, left: LeftOnEngine, *, on_message: Callable[[str], None] = lambda _: None
) -> list[str]:
    """Remove the leftovers of one job on its engine; returns the parts that could not be removed, as sentences.

    `on_message` is told of the removed parts. `JobLeftoversError` if a container may still be running: the engine is
    unreachable, or does not remove it.
    """
    try:
        engines = engines_at([left.engine])
        found = bool(owned_by(engines.first, left.name, left.run_id))
        failures = _clear_left(store, engines, left)
        owned = owned_by(engines.first, left.name, left.run_id)
        running = any(each.kind is ResourceKind.CONTAINER for each in owned)
    except (EngineError, MachineNotReadyError) as error:
        raise _leftovers(left, error.sentence) from error
    if running:
        raise _leftovers(left, *failures)
    if found and not failures:
        on_message(f"removed what it left on the engine at {left.engine}")
    return failures


def kept_by(store: Store, name: str) -> list[LeftOnEngine]:
    """The parts that a job has kept on purpose, as if they were leftovers; empty for most jobs."""
    try:
        record = store.get(name)
    except JobUnknownError:
        return []
    if not record.status.terminal or not has_kept_containers(store.directory(name)):
        return []
    plan = _plan_of(store, name)
    addresses = () if plan is None else plan.engine_addresses
    return [LeftOnEngine(run_id=record.run_id, name=name, engine=address) for address in addresses]


def _plan_of(store: Store, name: str) -> RecordedPlan | None:
    """None if another version has planned the job: its record can be removed, and its containers are leftovers then."""
    with suppress(EarlierPlanError):
        return recall(store.document(name, RECALL))
    return None


def clear_kept(store: Store, name: str) -> list[str]:
    """Remove the parts that a job has kept; returns those that could not be removed, as sentences."""
    return [each for left in kept_by(store, name) for each in clear_engine_of(store, left)]


def _leftovers(left: LeftOnEngine, *why: str) -> JobLeftoversError:
    return JobLeftoversError(
        f"the job '{left.name}' may have left containers on the engine at {left.engine}",
        details=why,
        remedy=[
            "smlocal recover     removes them once that engine is reachable",
            f"smlocal rm --force {left.name}     forgets them, if that engine no longer exists",
        ],
    )


def _clear_left(store: Store, engines: Engines, left: LeftOnEngine) -> list[str]:
    """`engines`: the one on which something was left."""
    directory = store.directory(left.name)
    if os.path.isdir(f"{directory}/hosts") and _is_stored(store, left):
        # The containers wrote there as root. They must not write any more when the owner is changed.
        kill_containers(engines.first, left.name, left.run_id)
        plan = _plan_of(store, left.name)
        restore_ownership(hosts_with_containers(engines, plan) if isinstance(plan, JobPlan) else [])
        clear_disk(directory)
    failures = clear_engines(engines, left.name, left.run_id, engine_lost=False)
    if not failures:
        store.delete_leftovers(left)
        if _is_stored(store, left) and has_kept_containers(directory):
            for kept in kept_by(store, left.name):
                if kept.engine != left.engine:  # what is kept there is no longer wanted either
                    store.record_leftovers(kept)
            unmark_containers_kept(directory)
    return failures.get(left.engine, [])


def _is_stored(store: Store, left: LeftOnEngine) -> bool:
    """False if the job was removed, or another job has its name."""
    try:
        return store.get(left.name).run_id == left.run_id
    except JobUnknownError:
        return False


def kill_containers(engine: Engine, job: str, run_id: str, *, rules: bool = True) -> None:
    """Kill the containers of a run, and wait until they have ended. `rules`: those too."""
    containers = [
        each.id
        for each in owned_by(engine, job, run_id)
        if each.kind is ResourceKind.CONTAINER and (rules or RULE_LABEL not in each.labels)
    ]
    deadline = time.monotonic() + _ENDS_SECONDS
    with suppress(PlaceRefusedError):  # their removal ends them too
        for container in containers:
            engine.signal(container, "SIGKILL")
        for container in containers:
            while engine.state(container).status == "running" and time.monotonic() < deadline:
                time.sleep(_POLL_SECONDS)
