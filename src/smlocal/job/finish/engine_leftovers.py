"""What ended jobs left on an engine that was unreachable. The next smlocal that reaches it removes that."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

from smlocal.engine.engines import Engines, engines_at
from smlocal.engine.interface import Engine, ResourceKind
from smlocal.errors import EngineError, JobLeftoversError, JobUnknownError, MachineNotReadyError
from smlocal.job.control.found_containers import hosts_with_containers
from smlocal.job.documents import RECALL
from smlocal.job.finish.cleanup import clear_disk, clear_engines
from smlocal.job.finish.collect import restore_ownership
from smlocal.job.finish.kept import is_kept, unmark_kept
from smlocal.job.labels import owned_by
from smlocal.planning.recall import recall
from smlocal.store.jobs import Store
from smlocal.store.records import LeftOnEngine

_ENDS_SECONDS = 10.0
_POLL_SECONDS = 0.05


def clear_this_engine(store: Store, engine: Engine) -> Iterator[str]:
    """Remove what ended jobs left on this engine; yields the names of those that did. What fails is tried again."""
    with suppress(EngineError, MachineNotReadyError):
        address = engine.facts().address
        for left in store.left_on_engines():
            if left.engine == address:
                found = bool(owned_by(engine, left.name, left.run_id))
                if not _clear(store, Engines({address: engine}), left) and found:
                    yield left.name


def clear_engine_of(
    store: Store, left: LeftOnEngine, *, on_message: Callable[[str], None] = lambda _: None
) -> list[str]:
    """Remove what one job left on its engine; returns what could not be removed, as sentences.

    `on_message` is told of what was removed. `JobLeftoversError` if a container may still be running: the engine is
    unreachable, or does not remove it.
    """
    try:
        engines = engines_at([left.engine])
        found = bool(owned_by(engines.first, left.name, left.run_id))
        failures = _clear(store, engines, left)
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
    """What a job has kept on purpose, as if it were left; empty for most jobs."""
    try:
        record = store.get(name)
    except JobUnknownError:
        return []
    if not record.status.terminal or not is_kept(store.directory(name)):
        return []
    addresses = recall(store.document(name, RECALL)).engine_addresses
    return [LeftOnEngine(run_id=record.run_id, name=name, engine=address) for address in addresses]


def clear_kept(store: Store, name: str) -> list[str]:
    """Remove what a job has kept; returns what could not be removed, as sentences."""
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


def _clear(store: Store, engines: Engines, left: LeftOnEngine) -> list[str]:
    """`engines`: the one on which something was left."""
    directory = store.directory(left.name)
    if os.path.isdir(f"{directory}/hosts") and _is_stored(store, left):
        # The containers wrote there as root. They must not write any more when the owner is changed.
        kill_containers(engines.first, left.name, left.run_id)
        restore_ownership(hosts_with_containers(engines, recall(store.document(left.name, RECALL))))
        clear_disk(directory)
    failures = clear_engines(engines, left.name, left.run_id, engine_lost=False)
    if not failures:
        store.delete_leftovers(left)
        if _is_stored(store, left) and is_kept(directory):
            for address in recall(store.document(left.name, RECALL)).engine_addresses:
                if address != left.engine:  # what is kept there is no longer wanted either
                    store.record_leftovers(LeftOnEngine(run_id=left.run_id, name=left.name, engine=address))
            unmark_kept(directory)
    return failures.get(left.engine, [])


def _is_stored(store: Store, left: LeftOnEngine) -> bool:
    """False if the job was removed, or another job has its name."""
    try:
        return store.get(left.name).run_id == left.run_id
    except JobUnknownError:
        return False


def kill_containers(engine: Engine, job: str, run_id: str) -> None:
    """Kill the containers of a run, and wait until they have ended."""
    containers = [each.id for each in owned_by(engine, job, run_id) if each.kind is ResourceKind.CONTAINER]
    for container in containers:
        engine.signal(container, "SIGKILL")
    deadline = time.monotonic() + _ENDS_SECONDS
    for container in containers:
        while engine.state(container).status == "running" and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
