"""Stop a job, as StopTrainingJob does, and wait until jobs have ended."""

import time
from collections.abc import Callable, Iterable

from smlocal.errors import UsageRefusedError, WaitTimeoutError
from smlocal.jobs.control.orphans import ensure_supervised
from smlocal.jobs.control.requests import ask_to_stop
from smlocal.jobs.kinds import finished
from smlocal.jobs.store.home import home_directory
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.lease import supervised
from smlocal.terms.statuses import JobStatus

LONGEST_GRACE = 28 * 86_400
"""Seconds: no job may run longer."""
_MIN_PAUSE, _MAX_PAUSE = 0.02, 0.25


def stop(store: Store, name: str, *, grace: float | None, on_message: Callable[[str], None]) -> None:
    """Record the stop and wake the supervisor; a job without one gets one.

    If the job has ended, what it left on engines that were unreachable then is removed first.
    """
    if grace is not None and not 0 <= grace <= LONGEST_GRACE:  # NaN too
        raise UsageRefusedError(f"a grace of {grace:g} s is not possible: from 0 to {LONGEST_GRACE} s")
    if store.left_on_engines(name) and store.get(name).status.terminal:
        from smlocal.jobs.finish.cleanup import clear_engine_of

        for left in store.left_on_engines(name):
            clear_engine_of(store, left, on_message=lambda line: on_message(f"{name}: {line}"))
    record = store.get(name)
    if record.status.terminal:
        raise finished(record)
    if not ask_to_stop(store, name, grace=grace):
        ensure_supervised(store, name)


def wait_for_jobs(names: Iterable[str], *, timeout: float | None, home: str | None = None) -> dict[str, JobStatus]:
    """The status that each job ended with. Jobs without a supervisor get one.

    `WaitTimeoutError` if they have not all ended after `timeout` seconds.
    """
    deadline = None if timeout is None else time.monotonic() + timeout
    pause = _MIN_PAUSE
    ended: dict[str, JobStatus] = {}
    pending = list(dict.fromkeys(names))
    with Store.open(home_directory() if home is None else home) as store:
        while True:
            for name in list(pending):
                ensure_supervised(store, name)
                status = store.get(name).status
                if status.terminal and supervised(store.directory(name)):
                    pause = _MIN_PAUSE  # its last documents are being written; the caller may want to read them
                elif status.terminal:
                    pending.remove(name)
                    ended[name] = status
            if not pending:
                return ended
            if deadline is not None and time.monotonic() >= deadline:
                raise WaitTimeoutError(f"not ended after {timeout:g} s: {', '.join(pending)}")
            # Short at first, for jobs that are almost done. Later longer: the wait may take hours.
            time.sleep(pause)
            pause = min(pause * 1.5, _MAX_PAUSE)
