"""The folder of one check and the names of its jobs. A later check removes what a dead one has left."""

import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Self

from smlocal.api.job_list import matching_jobs
from smlocal.api.training_job import TrainingJob
from smlocal.base.files import remove_tree
from smlocal.errors import JobUnknownError, SmlocalError
from smlocal.jobs.store.lease import Lease, leased_folders, make_leased

NAMES = "check-"
"""The beginning of the names of all jobs of checks; the id of the check follows."""
_LONGEST_NAME = 63

Said = Callable[[str], None]


class CheckFolder:
    """Locked for as long as the check lives, and removed when it is over."""

    def __init__(self, home: str, *, said: Said = lambda _: None) -> None:
        self.home = home
        self.id = secrets.token_hex(4)
        self._said = said
        self._lease: Lease | None = None

    def __enter__(self) -> Self:
        remove_leftovers(self.home)
        self._lease = make_leased(self.path)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            remove_tree(self.path)
        except SmlocalError as trouble:
            self.say_of_leftovers(trouble)
        finally:
            if self._lease is not None:
                self._lease.release()

    @property
    def path(self) -> str:
        """Where it is."""
        return os.path.join(checks_folder(self.home), self.id)

    def name_of(self, word: str) -> str:
        """The name of a job of this check."""
        plain = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in word)
        return f"{NAMES}{self.id}-{plain}"[:_LONGEST_NAME].rstrip("-")

    def say_of_leftovers(self, trouble: SmlocalError) -> None:
        """Something could not be removed."""
        self._said(f"the next check will remove the leftovers of this one: {trouble.sentence}")


def checks_folder(home: str) -> str:
    """Where the folders are. A check holds the lock on its own for as long as it lives."""
    return os.path.join(home, "checks")


def remove_leftovers(home: str) -> None:
    """Remove the jobs and folders of checks whose process is gone.

    Anything that cannot be removed now is left for later.
    """
    for each in leased_folders(checks_folder(home)):
        with suppress(SmlocalError):
            _remove_dead(each)


def remove_job(name: str) -> None:
    """Kill a job or an endpoint if it runs, and forget it."""
    with suppress(JobUnknownError):
        TrainingJob(name).remove(stop=True)


def _remove_dead(folder: str) -> None:
    try:
        lease = Lease.take(folder)
    except OSError:  # meanwhile, by another check
        return
    if lease is None:
        return
    with lease:
        for name in matching_jobs(f"{NAMES}{os.path.basename(folder)}-*"):
            remove_job(name)
        remove_tree(folder)
