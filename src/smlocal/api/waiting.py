"""Wait until jobs and their supervisors have ended."""

import time
from collections.abc import Iterable

from smlocal.contract.statuses import JobStatus
from smlocal.errors import WaitTimeoutError
from smlocal.job.control.orphans import ensure_supervised
from smlocal.store.home import home_directory
from smlocal.store.jobs import Store
from smlocal.store.lease import supervised

_MIN_PAUSE, _MAX_PAUSE = 0.02, 0.25


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
