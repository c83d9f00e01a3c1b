"""Starts submitted jobs: at once after a call that submits or stops one, and when jobs of others have ended."""

from collections.abc import Callable
from threading import Event, Thread
from types import TracebackType
from typing import Self

from smlocal.errors import SmlocalError
from smlocal.store.database import StoreChanges
from smlocal.store.jobs import Store
from smlocal.submission.scheduler import InstanceLimit, Scheduler

_LOOK_SECONDS = 0.5
"""How soon the end of another job is noticed. A look takes some microseconds."""
_RECOVER_SECONDS = 5.0
"""How often jobs without a supervisor are looked for while jobs are unfinished."""
_END_SECONDS = 10.0


class Starting:
    """A thread of a server. A context manager."""

    def __init__(self, store: Store, *, limit: InstanceLimit | None, log: Callable[[str], None]) -> None:
        """Nothing is started before the block is entered."""
        self._store = store
        self._log = log
        self._scheduler = Scheduler(store, instances=None if limit is None else limit.instances)
        self._wanted = Event()
        self._over = Event()
        self._thread = Thread(target=self._run, name="starts-jobs", daemon=True)

    def look(self) -> None:
        """Look now: a job was submitted, or stopped while it waited."""
        self._wanted.set()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._over.set()
        self._wanted.set()
        self._thread.join(_END_SECONDS)
        self._scheduler.close()

    def _run(self) -> None:
        self._scheduler.starter.warm_up()
        with StoreChanges(self._store.home) as changes:
            seen, quiet = None, 0.0
            while not self._over.is_set():
                asked = self._wanted.wait(_LOOK_SECONDS)
                self._wanted.clear()
                number, quiet = changes.number(), quiet + _LOOK_SECONDS
                if asked or number != seen or quiet >= _RECOVER_SECONDS:
                    seen, quiet = number, 0.0
                    self._start()

    def _start(self) -> None:
        try:
            for name, why in self._scheduler.start_waiting().items():
                if why is not None:
                    self._log(f"{name} cannot be started yet: {why}")
        except SmlocalError as error:
            self._log(" ".join([error.sentence, *error.details]))
