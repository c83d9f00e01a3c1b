"""Finish jobs whose supervisor was killed."""

import time
from collections.abc import Callable, Collection, Iterator, Sequence

from smlocal.api.dead_shells import remove_dead_shells
from smlocal.api.owned_jobs import stop_jobs_of_dead
from smlocal.errors import JobLeftoversError, SmlocalError
from smlocal.job.control.orphans import ensure_supervised, not_adopted, orphans, why_not_adopted
from smlocal.job.finish.job_folder import complete_copies
from smlocal.store.home import home_directory
from smlocal.store.jobs import Store
from smlocal.store.lease import supervised
from smlocal.store.records import LeftOnEngine

_POLL_SECONDS = 0.1
_TRIES = 3
"""So many supervisors are started for a job if they end without an error, as one that is killed does."""


def recover_all(on_message: Callable[[str], None]) -> list[SmlocalError]:
    """Finish all of them, and remove what ended jobs left on engines that were unreachable.

    Returns what did not work. `on_message` is called with messages.
    """
    said: list[str] = []

    def say(line: str) -> None:
        said.append(line)
        on_message(line)

    with Store.open(home_directory()) as store:
        unwanted = stop_jobs_of_dead(store)
        if unwanted:
            say(f"stopping {', '.join(unwanted)}: the command that wanted them was killed")
        names, left = list(dict.fromkeys([*orphans(store), *unwanted])), store.left_on_engines()
        if names:
            say(f"recovering {', '.join(names)}")
        errors = recover(store, names)
        for name in names:
            if name not in errors:
                say(f"{name} {store.get(name).status}")
        remove_dead_shells(store.home)
        trouble = [*errors.values(), *_clear_engines(store, say, known=left)]
        complete_copies(store)
        if not said and not trouble:
            say("No job needs recovery.")
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


def _clear_engines(
    store: Store, on_message: Callable[[str], None], *, known: Collection[LeftOnEngine]
) -> Iterator[SmlocalError]:
    """Remove what ended jobs have left on engines. Yields the errors of engines that are still unreachable.

    The next command looks again for what was not `known` before: the engine may still be making it.
    """
    for left in store.left_on_engines():
        from smlocal.job.finish.engine_leftovers import clear_engine_of

        def say(line: str, name: str = left.name) -> None:
            on_message(f"{name}: {line}")

        try:
            stays = clear_engine_of(store, left, on_message=say)
        except JobLeftoversError as error:
            yield error
        else:
            for each in stays:
                say(each)
            if left not in known:
                store.record_leftovers(left)
