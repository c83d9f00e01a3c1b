"""Remove jobs, and their leftovers on engines, even on those that are gone for good."""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import chain
from shlex import join

from smlocal.api.recovering import recover
from smlocal.api.stopping import stop
from smlocal.engine.engines import Engines, engines_at
from smlocal.engine.interface import JOB_LABEL
from smlocal.errors import EngineError, JobFinishedError, JobLeftoversError, JobNotAbandonedError, MachineNotReadyError
from smlocal.jobs.control.orphans import ensure_supervised
from smlocal.jobs.documents import RECALL
from smlocal.jobs.finish.cleanup import clear_disk, clear_engine_of, clear_engines, kept_by
from smlocal.jobs.finish.describe import has_kept_containers
from smlocal.jobs.finish.unprepared import fail_with
from smlocal.jobs.kinds import not_finished, spoken_of
from smlocal.jobs.planning.recall import recall
from smlocal.jobs.shells import remove_dead_shells
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.lease import Lease
from smlocal.terms.statuses import INTERNAL_ERROR

_LOOKS_SECONDS = 60.0
"""A supervisor that has just been started asks a silent engine for less than this."""
_POLL_SECONDS = 0.1


def remove(
    store: Store, name: str, *, stop: bool, force: bool, abandon: bool, on_message: Callable[[str], None]
) -> None:
    """Remove a finished job and its logs. Artifacts in the output folder stay.

    `stop` first kills the containers of an unfinished job and waits until it has ended. `force` also removes a job that
    may have left containers on an engine that cannot be reached. `abandon` is that for a job that has not ended, too.
    """
    if abandon:
        _abandon(store, name, on_message=on_message)
        force = True
    ensure_supervised(store, name)
    remove_dead_shells(store.home)
    if stop and not store.get(name).status.terminal:
        _kill(store, name)
    if store.left_on_engines(name) or has_kept_containers(store.directory(name)):
        _clear_engines(store, name, force=force, on_message=on_message)
    record = store.get(name)
    if not record.status.terminal:
        waits = [] if spoken_of(record).endless else [f"To wait for its end:    smlocal wait {name}"]
        raise not_finished(record, *waits, f"To stop and remove it:  smlocal rm --stop {name}")
    store.remove(name)


def _kill(store: Store, name: str) -> None:
    with suppress(JobFinishedError):  # it has ended in the meantime
        stop(store, name, grace=0, on_message=lambda _: None)
    for error in recover(store, [name]).values():
        raise error


def _clear_engines(store: Store, name: str, *, force: bool, on_message: Callable[[str], None]) -> None:
    """Remove what jobs of this name have left, before the record of it is removed."""
    for left in [*store.left_on_engines(name), *kept_by(store, name)]:
        try:
            stays = clear_engine_of(store, left)
        except JobLeftoversError:
            if not force:
                raise
            store.delete_leftovers(left)
            on_message(f"forgot what {name} may have left on the engine at {left.engine}")
        else:
            for each in stays:
                on_message(f"{name}: {each}")


def _abandon(store: Store, name: str, *, on_message: Callable[[str], None]) -> None:
    """End the job as failed, if it has not ended. Possible leftovers are reported, with commands that remove them.

    `JobNotAbandonedError` if there is a better way: its engines answer, or it has a supervisor.
    """
    if store.get(name).status.terminal:
        return
    recalled = store.document(name, RECALL)
    if recalled is None:
        raise _refused(name, "it has not been prepared, so it has nothing on an engine")
    plan = recall(recalled)
    if not plan.engine_addresses:
        raise _refused(name, "it has nothing on an engine")
    engines = engines_at(plan.engine_addresses)
    gone = {address for address in engines.addresses if not _answers(engines.only([address]))}
    if not gone:
        raise _refused(name, f"its engine at {' and at '.join(engines.addresses)} answers")
    lease = _lease(store, name)
    if lease is None:
        return
    with lease:
        there = engines.only([address for address in engines.addresses if address not in gone])
        left = clear_engines(there, name, plan.run_id, engine_lost=False) if len(there) else {}
        for each in [*chain(*left.values()), *clear_disk(plan.job_directory)]:
            on_message(f"{name}: {each}")
        fail_with(store, name, INTERNAL_ERROR, explanation="it was abandoned, because its engine is gone")
    for address in sorted(gone):
        _tell(name, address, engines.at(address).docker_command(), on_message)


def _tell(name: str, address: str, docker: tuple[str, ...], on_message: Callable[[str], None]) -> None:
    on_message(
        f"abandoned {name}: its containers, volumes and networks may remain on the engine at {address}, and data that "
        "only that engine has is lost. If it comes back, these commands remove them:"
    )
    for command in removing_commands(docker, name):
        on_message(f"  {command}")


def removing_commands(docker: tuple[str, ...], job: str) -> list[str]:
    """Commands that remove all of a job from an engine by hand: containers first, because they use the rest; pure."""
    label, words = f"label={JOB_LABEL}={job}", join(docker)
    kinds = (("ps --all", "rm --force --volumes"), ("volume ls", "volume rm"), ("network ls", "network rm"))
    return [f"{words} {listed} --quiet --filter {label} | xargs -r {words} {removed}" for listed, removed in kinds]


def _answers(engine: Engines) -> bool:
    try:
        engine.first.facts()
    except (EngineError, MachineNotReadyError):
        return False
    return True


def _lease(store: Store, name: str) -> Lease | None:
    """Become the supervisor; None if the job has ended meanwhile. One that looks for the engine gives up soon."""
    until = time.monotonic() + _LOOKS_SECONDS
    while (lease := store.take_over(name, os.getpid())) is None and not store.get(name).status.terminal:
        if time.monotonic() > until:
            raise _refused(name, "it has a supervisor, which ends it")
        time.sleep(_POLL_SECONDS)
    return lease


def _refused(name: str, why: str) -> JobNotAbandonedError:
    return JobNotAbandonedError(
        f"the job '{name}' was not abandoned: {why}",
        remedy=[f"smlocal rm --stop {name}     kills it, waits for its end and removes it"],
    )
