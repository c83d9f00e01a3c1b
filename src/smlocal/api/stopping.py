"""What StopTrainingJob does."""

from collections.abc import Callable

from smlocal.errors import UsageRefusedError
from smlocal.job.control.orphans import see_to
from smlocal.job.control.requests import ask_to_stop
from smlocal.store.jobs import Store

LONGEST_GRACE = 28 * 86_400
"""Seconds; no job runs longer."""


def stop(store: Store, name: str, *, grace: float | None, removed: Callable[[str], None] = lambda _: None) -> None:
    """Record the stop and wake the supervisor; a job without one gets one.

    What an ended job has left on an engine that did not answer then is removed first: `removed` is called with the
    address of that engine.
    """
    if grace is not None and not 0 <= grace <= LONGEST_GRACE:  # not a number neither
        raise UsageRefusedError(f"a grace of {grace:g} s is not possible: from 0 to {LONGEST_GRACE} s")
    if store.left_on_engines(name) and store.get(name).status.terminal:
        from smlocal.engine.docker import connect_to
        from smlocal.job.finish.engine_leftovers import clear_engine_of

        for left in store.left_on_engines(name):
            clear_engine_of(store, left, connect_to)
            removed(left.engine)
    if not ask_to_stop(store, name, grace=grace):
        see_to(store, name)
