"""Detached jobs that belong to one process: nobody wants them any more once it is gone."""

import os
import secrets
from contextlib import suppress
from types import TracebackType
from typing import Self

from smlocal.errors import JobFinishedError, JobUnknownError
from smlocal.job.control.requests import ask_to_stop
from smlocal.store.home import home_directory, prepare_home
from smlocal.store.jobs import Store
from smlocal.store.lease import Lease, leased_folders, make_leased


class OwnedJobs:
    """The jobs of this process, for `recover` to find if it is killed. A context manager; later, nobody owns them."""

    def __init__(self) -> None:
        """Nothing is made yet."""
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
