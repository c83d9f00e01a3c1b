"""Finish jobs whose supervisor was killed."""

import time
from collections.abc import Callable, Iterator, Sequence

from smlocal.api.dead_shells import remove_dead_shells
from smlocal.errors import JobLeftoversError, SmlocalError
from smlocal.job.control.orphans import ensure_supervised, not_adopted, orphans, why_not_adopted
from smlocal.job.finish.job_folder import complete_copies
from smlocal.store.home import home_directory
from smlocal.store.jobs import Store
from smlocal.store.lease import supervised

_POLL_SECONDS = 0.1
_TRIES = 3
"""So many supervisors are started for a job if they end without an error, as one that is killed does."""


def recover_all(on_message: Callable[[str], None]) -> list[SmlocalError]:
    """Finish all of them, and remove what ended jobs left on engines that were unreachable.

    Returns what did not work. `on_message` is called with messages.
    """
    with Store.open(home_directory()) as store:
        names = orphans(store)
        if names:
            on_message(f"recovering {', '.join(names)}")
        elif not store.left_on_engines():
            on_message("No job needs recovery.")
        errors = recover(store, names)
        for name in names:
            if name not in errors:
                on_message(f"{name} {store.get(name).status}")
        remove_dead_shells(store.home)
        trouble = [*errors.values(), *_clear_engines(store, on_message)]
        complete_copies(store)
    return trouble


def recover(store: Store, names: Sequence[str]) -> dict[str, SmlocalError]:
    """Wait until each job has ended or cannot be supervised; returns why not."""
    began = time.time()
    tries = dict.fromkeys(names, 0)
    errors: dict[str, SmlocalError] = {}
    pending = list(names)
    while pending:
        for name in list(pending):
            if supervised(store.directory(name)):
                continue
            if store.get(name).status.terminal:
                pending.remove(name)
            elif (why := why_not_adopted(store, name, since=began)) is not None:
                errors[name] = why
                pending.remove(name)
            elif tries[name] < _TRIES:
                tries[name] += 1
                ensure_supervised(store, name)
            else:
                errors[name] = not_adopted(name, f"{_TRIES} supervisors ended without an error message")
                pending.remove(name)
        time.sleep(_POLL_SECONDS)
    return errors


def _clear_engines(store: Store, on_message: Callable[[str], None]) -> Iterator[SmlocalError]:
    """Remove what ended jobs have left on engines. Yields the errors of engines that are still unreachable."""
    for left in store.left_on_engines():
        from smlocal.job.finish.engine_leftovers import clear_engine_of

        try:
            stays = clear_engine_of(store, left)
        except JobLeftoversError as error:
            yield error
        else:
            for each in stays or [f"removed what it left on the engine at {left.engine}"]:
                on_message(f"{left.name}: {each}")
