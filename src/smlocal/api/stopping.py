"""Stop a job, as StopTrainingJob does."""

from collections.abc import Callable

from smlocal.errors import UsageRefusedError
from smlocal.job.control.orphans import ensure_supervised
from smlocal.job.control.requests import ask_to_stop
from smlocal.job.job_words import finished
from smlocal.store.jobs import Store

LONGEST_GRACE = 28 * 86_400
"""Seconds: no job may run longer."""


def stop(store: Store, name: str, *, grace: float | None, on_message: Callable[[str], None]) -> None:
    """Record the stop and wake the supervisor; a job without one gets one.

    If the job has ended, what it left on engines that were unreachable then is removed first.
    """
    if grace is not None and not 0 <= grace <= LONGEST_GRACE:  # also for NaN
        raise UsageRefusedError(f"a grace of {grace:g} s is not possible: from 0 to {LONGEST_GRACE} s")
    if store.left_on_engines(name) and store.get(name).status.terminal:
        from smlocal.job.finish.engine_leftovers import clear_engine_of

        for left in store.left_on_engines(name):
            clear_engine_of(store, left, on_message=lambda line: on_message(f"{name}: {line}"))
    record = store.get(name)
    if record.status.terminal:
        raise finished(record)
    if not ask_to_stop(store, name, grace=grace):
        ensure_supervised(store, name)
