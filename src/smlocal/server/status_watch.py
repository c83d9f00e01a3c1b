"""Tells calls that wait when the status of a job has changed, whichever process changed it."""

import asyncio
from contextlib import suppress
from types import TracebackType
from typing import Self

from starlette.concurrency import run_in_threadpool

from smlocal.errors import SmlocalError
from smlocal.store.database import StoreChanges
from smlocal.store.jobs import Store

_EVERY = 0.02
"""Seconds. It takes some microseconds, however many calls wait, and nothing while none does."""


class StatusWatch:
    """Used by the tasks of one event loop."""

    def __init__(self, store: Store) -> None:
        """Nothing is asked until somebody waits."""
        self._store = store
        self._changes = StoreChanges(store.home)
        self._waiting: dict[asyncio.Future[None], str] = {}
        """The job that each of them waits for."""
        self._task: asyncio.Task[None] | None = None
        self.over = False
        """True once the server is to end."""
        self.answered: dict[str, float] = {}
        """When a waiter was told that its job has not ended yet: by job, monotonic."""

    async def until_ended(self, name: str, *, seconds: float) -> bool:
        """True when the job has ended or is not there, or the server is to end; False after so many seconds."""
        ended = asyncio.get_running_loop().create_future()
        self._waiting[ended] = name
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._look())
        try:
            if name in await run_in_threadpool(self._unfinished) and not self.over:
                await asyncio.wait_for(ended, seconds)
        except TimeoutError:
            return False
        else:
            return True
        finally:
            del self._waiting[ended]

    def release(self) -> None:
        """Let all calls go on, now and from here on: the server is to end."""
        self.over = True
        for each in self._waiting:
            _let_go(each)

    async def _look(self) -> None:
        """Runs as long as somebody waits."""
        seen = None
        while self._waiting:
            with suppress(SmlocalError):  # such as a full disk: the call that goes on says so
                number = self._changes.number()
                if number != seen:
                    asked = list(self._waiting.items())
                    unfinished = await run_in_threadpool(self._unfinished)
                    for each, name in asked:
                        if name not in unfinished:
                            _let_go(each)
                    seen = number
            await asyncio.sleep(_EVERY)

    def _unfinished(self) -> set[str]:
        return {record.name for record in self._store.unfinished()}

    def number(self) -> int:
        """Another number than before if any job has changed."""
        return self._changes.number()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._changes.close()


def _let_go(waiting: "asyncio.Future[None]") -> None:
    if not waiting.done():
        waiting.set_result(None)
