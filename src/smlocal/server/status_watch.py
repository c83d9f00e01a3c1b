"""Tells calls that wait when the status of a job has changed, whichever process changed it."""

import asyncio
from types import TracebackType
from typing import Self

from smlocal.errors import JobUnknownError
from smlocal.store.changes import Changes
from smlocal.store.jobs import Store

_EVERY = 0.02
"""Seconds. It takes some microseconds, and nothing while nobody waits."""


class StatusWatch:
    """Used by the tasks of one event loop."""

    def __init__(self, store: Store) -> None:
        """Nothing is asked until somebody waits."""
        self._store = store
        self._changes = Changes(store.home)

    async def until_ended(self, name: str, *, seconds: float) -> None:
        """Return when the job has ended or is not there any more, or after so many seconds."""
        end = asyncio.get_running_loop().time() + seconds
        seen = None
        while asyncio.get_running_loop().time() < end:
            number = self._changes.number()
            if number != seen:
                seen = number
                try:
                    if self._store.get(name).status.terminal:
                        return
                except JobUnknownError:
                    return
            await asyncio.sleep(_EVERY)

    def number(self) -> int:
        """Another number than before if any job has changed."""
        return self._changes.number()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._changes.close()
