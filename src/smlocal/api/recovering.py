"""Finish jobs whose supervisor was killed, and end those that no process waits for any more.

A detached job may belong to a process that made it: once that is gone, the job is not wanted any more.
"""

import os
import secrets
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Self

from smlocal.errors import JobFinishedError, JobLeftoversError, JobUnknownError, SmlocalError
from smlocal.jobs.control.orphans import ensure_supervised, not_adopted, orphans, why_not_adopted
from smlocal.jobs.control.requests import ask_to_stop
from smlocal.jobs.finish.cleanup import clear_engine_of
from smlocal.jobs.finish.describe import complete_copies
from smlocal.jobs.kinds import showing
from smlocal.jobs.shells import remove_dead_shells
from smlocal.jobs.store.home import home_directory, prepare_home
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.lease import Lease, leased_folders, make_leased, supervised
from smlocal.jobs.store.records import LeftOnEngine
from smlocal.sagemaker.serving.state import HOSTING, read_state
from smlocal.terms.statuses import JobStatus

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

    began = time.time()
    with Store.open(home_directory()) as store:
        unwanted = stop_jobs_of_dead(store)
        if unwanted:
            say(f"stopping {', '.join(unwanted)}: the command that waited for them was killed")
        names, left = list(dict.fromkeys([*orphans(store), *unwanted])), store.left_on_engines()
        if names:
            say(f"recovering {', '.join(names)}")
        errors = recover(store, names, since=began)
        for name in names:
            if name not in errors:
                record = store.get(name)
                say(f"{name} {record.status if record.status.terminal else showing(record.platform).words(record)[0]}")
        remove_dead_shells(store.home)
        trouble = [*errors.values(), *_clear_engines(store, say, known=left)]
        complete_copies(store)
        if not said and not trouble:
            say("No job needs recovery.")
    return trouble


def recover(store: Store, names: Sequence[str], *, since: float | None = None) -> dict[str, SmlocalError]:
    """Wait until each job has ended or cannot be supervised; returns why not.

    An endpoint does not end by itself: it is waited for until it answers. `since`: supervisors that were ready or
    failed earlier are not the ones that are waited for.
    """
    began = time.time() if since is None else since
    tries = dict.fromkeys(names, 0)
    errors: dict[str, SmlocalError] = {}
    pending = list(names)
    while pending:
        for name in list(pending):
            if supervised(store.directory(name)):
                if _answers(store, name, since=began):
                    pending.remove(name)
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


def _answers(store: Store, name: str, *, since: float) -> bool:
    """True for an endpoint that a supervisor has brought into service since then, unless it is to be stopped."""
    if store.get(name).status is not JobStatus.IN_PROGRESS:
        return False
    answers = read_state(store.document(name, HOSTING)).answers
    return answers is not None and answers >= since


def _clear_engines(
    store: Store, on_message: Callable[[str], None], *, known: Collection[LeftOnEngine]
) -> Iterator[SmlocalError]:
    """Remove what ended jobs have left on engines. Yields the errors of engines that are still unreachable.

    The next command looks again for anything that was not `known` before: the engine may still be making it.
    """
    for left in store.left_on_engines():

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


class OwnedJobs:
    """The jobs of this process, for `recover` to find if it is killed. A context manager; later, they have no owner."""

    def __init__(self) -> None:
        self._folder = os.path.join(_owners(home_directory()), secrets.token_hex(4))
        self._lease: Lease | None = None

    def __enter__(self) -> Self:
        prepare_home(home_directory())
        self._lease = make_leased(self._folder)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with suppress(OSError):
            _remove(self._folder)
        if self._lease is not None:
            self._lease.release()

    def add(self, name: str) -> None:
        """Own a job, before it is made."""
        with open(os.path.join(self._folder, name), "x", encoding="ascii"):
            pass


def stop_jobs_of_dead(store: Store) -> list[str]:
    """Have the jobs of processes that were killed end without a grace period; returns their names.

    Those without a supervisor end once they have one.
    """
    stopped: list[str] = []
    with suppress(FileNotFoundError):
        for each in leased_folders(_owners(store.home)):
            stopped += _stop_jobs(store, each)
    return stopped


def _stop_jobs(store: Store, folder: str) -> list[str]:
    try:
        lease = Lease.take(folder)
    except OSError:  # removed meanwhile
        return []
    if lease is None:
        return []
    stopped = []
    with lease:
        for name in sorted(os.listdir(folder)):
            with suppress(JobFinishedError, JobUnknownError):
                ask_to_stop(store, name, grace=0)
                stopped.append(name)
        _remove(folder)
    return stopped


def _remove(folder: str) -> None:
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
    os.rmdir(folder)


def _owners(home: str) -> str:
    return os.path.join(home, "owners")
