"""What ended jobs may have left on an engine that did not answer; removed by whoever meets that engine next."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

from smlocal.engine.interface import Engine, ResourceKind
from smlocal.errors import EngineError, JobLeftoversError, JobUnknownError, MachineNotReadyError
from smlocal.job.control.ended_hosts import ended_hosts
from smlocal.job.finish.cleanup import clear_disk, clear_engine
from smlocal.job.finish.collect import give_back
from smlocal.job.finish.describe import RECALL
from smlocal.job.labels import owned_by
from smlocal.planning.recall import recall
from smlocal.store.jobs import Store
from smlocal.store.records import LeftOnEngine

_ENDS_SECONDS = 10.0
_POLL_SECONDS = 0.05


def clear_this_engine(store: Store, engine: Engine) -> Iterator[str]:
    """Remove from this engine what ended jobs have left there; yields their names. What fails is tried next time."""
    with suppress(EngineError, MachineNotReadyError):
        address = engine.facts().address
        for left in store.left_on_engines():
            if left.engine == address and not _clear(store, engine, left):
                yield left.name


def clear_engine_of(store: Store, left: LeftOnEngine, connect_to: Callable[[str], Engine]) -> list[str]:
    """Remove what one job has left, from the engine where it is; returns what stays, in words.

    `JobLeftoversError` when a container may still run: the engine does not answer, or does not remove it.
    """
    try:
        engine = connect_to(left.engine)
        stays = _clear(store, engine, left)
        running = any(each.kind is ResourceKind.CONTAINER for each in owned_by(engine, left.name, left.run_id))
    except (EngineError, MachineNotReadyError) as error:
        raise _leftovers(left, error.sentence) from error
    if running:
        raise _leftovers(left, *stays)
    return stays


def _leftovers(left: LeftOnEngine, *why: str) -> JobLeftoversError:
    return JobLeftoversError(
        f"the job '{left.name}' may have left containers on the engine at {left.engine}",
        details=why,
        remedy=[
            "smlocal recover     removes them once that engine is reachable",
            f"smlocal rm --force {left.name}     forgets them, if that engine no longer exists",
        ],
    )


def _clear(store: Store, engine: Engine, left: LeftOnEngine) -> list[str]:
    directory = store.directory(left.name)
    if os.path.isdir(f"{directory}/hosts") and _is_remembered(store, left):
        # The containers wrote there as root, and must not write any more.
        _kill(engine, left)
        give_back(ended_hosts(recall(store.document(left.name, RECALL)), engine), engine)
        clear_disk(directory)
    stays = clear_engine(engine, left.name, left.run_id, engine_lost=False)
    if not stays:
        store.forget_left(left.run_id)
    return stays


def _is_remembered(store: Store, left: LeftOnEngine) -> bool:
    """False once the job was removed, or another has its name."""
    try:
        return store.get(left.name).run_id == left.run_id
    except JobUnknownError:
        return False


def _kill(engine: Engine, left: LeftOnEngine) -> None:
    containers = [each.id for each in owned_by(engine, left.name, left.run_id) if each.kind is ResourceKind.CONTAINER]
    for container in containers:
        engine.signal(container, "SIGKILL")
    deadline = time.monotonic() + _ENDS_SECONDS
    for container in containers:
        while engine.state(container).status == "running" and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
