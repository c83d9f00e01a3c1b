"""Remove jobs, and what they have left on engines."""

from collections.abc import Callable
from contextlib import suppress

from smlocal.api.dead_shells import remove_dead_shells
from smlocal.errors import JobFinishedError, JobLeftoversError
from smlocal.job.control.orphans import ensure_supervised
from smlocal.job.finish.kept import is_kept
from smlocal.job.job_words import not_finished
from smlocal.store.jobs import Store


def remove(
    store: Store, name: str, *, stop: bool, force: bool, abandon: bool, on_message: Callable[[str], None]
) -> None:
    """Remove a finished job and its logs. Artifacts in the output folder stay.

    `stop` first kills the containers of an unfinished job and waits until it has ended. `force` also removes a job that
    may have left containers on an engine that cannot be reached. `abandon` is that for a job that has not ended, too.
    """
    if abandon:
        from smlocal.api import abandoning  # hardly any engine is gone for good

        abandoning.abandon(store, name, on_message=on_message)
        force = True
    ensure_supervised(store, name)
    remove_dead_shells(store.home)
    if stop and not store.get(name).status.terminal:
        _kill(store, name)
    if store.left_on_engines(name) or is_kept(store.directory(name)):
        _clear_engines(store, name, force=force, on_message=on_message)
    record = store.get(name)
    if not record.status.terminal:
        raise not_finished(record, "Wait for it or stop it first.")
    store.remove(name)


def _kill(store: Store, name: str) -> None:
    from smlocal.api.recovering import recover
    from smlocal.api.stopping import stop

    with suppress(JobFinishedError):  # it has ended in the meantime
        stop(store, name, grace=0, on_message=lambda _: None)
    for error in recover(store, [name]).values():
        raise error


def _clear_engines(store: Store, name: str, *, force: bool, on_message: Callable[[str], None]) -> None:
    """Remove what jobs of this name have left, before the record of it is removed."""
    from smlocal.job.finish.engine_leftovers import clear_engine_of, kept_by

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
