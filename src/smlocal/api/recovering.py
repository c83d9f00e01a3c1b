"""Bring jobs to their end whose supervisor was killed."""

import time
from collections.abc import Sequence

from smlocal.errors import SmlocalError
from smlocal.job.control.orphans import not_adopted, see_to, why_not_adopted
from smlocal.store.jobs import Store
from smlocal.store.lease import supervised

_POLL_SECONDS = 0.1
_TRIES = 3
"""How many supervisors a job gets that end without an error, as one that is killed does."""


def recover(store: Store, names: Sequence[str]) -> dict[str, SmlocalError]:
    """Wait until each has ended, or cannot be adopted; returns why not."""
    began = time.time()
    tries = dict.fromkeys(names, 0)
    left: dict[str, SmlocalError] = {}
    pending = list(names)
    while pending:
        for name in list(pending):
            if supervised(store.directory(name)):
                continue
            if store.get(name).status.terminal:
                pending.remove(name)
            elif (why := why_not_adopted(store, name, since=began)) is not None:
                left[name] = why
                pending.remove(name)
            elif tries[name] < _TRIES:
                tries[name] += 1
                see_to(store, name)
            else:
                left[name] = not_adopted(name, f"{_TRIES} supervisors ended without an error message")
                pending.remove(name)
        time.sleep(_POLL_SECONDS)
    return left
