"""Wait until jobs have ended and their supervisors too."""

import time
from collections.abc import Iterable, Iterator

from smlocal.contract.outcome.statuses import TrainingJobStatus
from smlocal.errors import WaitTimeoutError
from smlocal.job.control.orphans import see_to
from smlocal.store.jobs import Store
from smlocal.store.lease import supervised

_SHORT, _LONG = 0.02, 0.25


def ended(store: Store, names: Iterable[str], *, timeout: float | None) -> Iterator[tuple[str, TrainingJobStatus]]:
    """Each job as it ends; `WaitTimeoutError` when that takes longer. Orphans get a supervisor meanwhile."""
    deadline = None if timeout is None else time.monotonic() + timeout
    pause = _SHORT
    pending = list(dict.fromkeys(names))
    while True:
        for name in list(pending):
            see_to(store, name)
            status = store.get(name).status
            if status.terminal and supervised(store.directory(name)):
                pause = _SHORT  # its last documents are being written, and whoever waits may want to read them
            elif status.terminal:
                pending.remove(name)
                yield name, status
        if not pending:
            return
        if deadline is not None and time.monotonic() >= deadline:
            raise WaitTimeoutError(f"not ended after {timeout:g} s: {', '.join(pending)}")
        # Short at first, for jobs that are almost done; a wait of hours must not keep a laptop awake.
        time.sleep(pause)
        pause = min(pause * 1.5, _LONG)
