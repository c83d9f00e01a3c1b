"""Start submitted jobs, first come first served, as long as instances are free."""

import time
from collections.abc import Mapping
from threading import Lock
from types import TracebackType
from typing import Self

from smlocal.job.control.orphans import orphans
from smlocal.store.jobs import Store
from smlocal.submission.job_starter import JobStarter

_AGAIN_SECONDS = 10.0
"""A job whose supervisor ends at once, as without an engine, gets a new one so often."""


class Scheduler:
    """Starts the waiting jobs of one home. Several of them may work on one home, also in different processes."""

    def __init__(self, store: Store, *, instances: int | None = None) -> None:
        """`instances`: how many may be in use at once; None for no limit."""
        self._store = store
        self._instances = instances
        self._starter = JobStarter(store.home)
        self._lock = Lock()
        self._tried: dict[str, float] = {}
        """When each job was last started."""

    @property
    def starter(self) -> JobStarter:
        """The process that starts jobs."""
        return self._starter

    def start_waiting(self) -> Mapping[str, str | None]:
        """Start what may be started now, and jobs whose supervisor was killed; returns their names.

        With each name: why it has no supervisor yet, if it could not get one. It is tried again ten seconds later.

        To be called after each submission, when a job has ended, and every few seconds while jobs are unfinished. It
        returns when they have supervisors. It takes a fraction of a millisecond when there is nothing to start.
        """
        with self._lock:
            # In the store they count as started from here on, so that nobody starts more than the limit allows. If this
            # process dies now, they are orphans, and the next scheduler or command starts them.
            self._store.start_pending(now=time.time, limit=self._instances)
            now = time.monotonic()
            self._tried = {name: at for name, at in self._tried.items() if now - at < _AGAIN_SECONDS}
            found = [name for name in orphans(self._store) if name not in self._tried]
            self._tried.update(dict.fromkeys(found, now))
            return {name: self._starter.start(name) for name in found}

    def close(self) -> None:
        """End the starter process. Running jobs go on, and waiting ones wait."""
        self._starter.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
