"""Forget jobs, and remove what they have left on an engine."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase

from smlocal.errors import JobFinishedError, JobLeftoversError
from smlocal.job.control.orphans import see_to
from smlocal.store.jobs import Store


def remove(
    store: Store, name: str, *, stop: bool = False, force: bool = False, said: Callable[[str], None] = lambda _: None
) -> None:
    """Forget a finished job and its logs; artifacts in the output folder stay. `said` is called with what was found.

    `stop` kills the containers of an unfinished job first, and waits until the job has ended. `force` also forgets a
    job that may have left containers on an engine that does not answer.
    """
    see_to(store, name)
    if stop and not store.get(name).status.terminal:
        _kill(store, name)
    if store.left_on_engines(name):
        _clear_engines(store, name, force=force, said=said)
    store.remove(name)


def matching(store: Store, pattern: str) -> Sequence[str]:
    """The names of the jobs that a shell pattern matches, newest first; a name that is no pattern is that job's."""
    if not set(pattern) & set("*?["):
        return (pattern,)
    return [record.name for record in store.list() if fnmatchcase(record.name, pattern)]


def _kill(store: Store, name: str) -> None:
    from smlocal.api.recovering import recover
    from smlocal.api.stopping import stop

    with suppress(JobFinishedError):  # meanwhile
        stop(store, name, grace=0)
    for error in recover(store, [name]).values():
        raise error


def _clear_engines(store: Store, name: str, *, force: bool, said: Callable[[str], None]) -> None:
    """Remove what jobs of this name have left, while it is still known."""
    from smlocal.engine.docker import connect_to
    from smlocal.job.finish.engine_leftovers import clear_engine_of

    for left in store.left_on_engines(name):
        try:
            stays = clear_engine_of(store, left, connect_to)
        except JobLeftoversError:
            if not force:
                raise
            store.forget_left(left.run_id)
            said(f"forgot what {name} may have left on the engine at {left.engine}")
        else:
            for each in stays:
                said(f"{name}: {each}")
