"""Watches what one container uses, beside everything else: nothing waits for it, and short jobs never hear of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING

from smlocal.job.usage.pace import FIRST

if TYPE_CHECKING:
    from smlocal.engine.interface import Engine
    from smlocal.job.usage.looking import Looking


@dataclass(frozen=True, kw_only=True, slots=True)
class Watched:
    """A container, and where its usage is kept."""

    container: str
    path: str
    gpus: int
    """Of the machine's, the first so many."""
    folders: Sequence[tuple[str, str]]
    """Counted at the end: (here, there)."""
    started_before: bool = False
    """True when it has been running for a while and perhaps was watched by another."""


@dataclass(kw_only=True, slots=True)
class UsageWatch:
    """One container's. `begin` and `close` return at once, whatever the engine does."""

    _over: Event = field(default_factory=Event)
    _lock: Lock = field(default_factory=Lock)
    _looking: "Looking | None" = None

    def begin(self, engine: "Engine", watched: Watched) -> None:
        """The container runs."""
        Thread(target=self._watch, args=(engine, watched), name=f"{watched.container[:12]}-usage", daemon=True).start()

    def close(self) -> None:
        """The container has ended: keep what was seen, and count its folders."""
        self._over.set()
        with self._lock:
            if self._looking is not None:
                self._looking.finish()
                self._looking = None

    def _watch(self, engine: "Engine", watched: Watched) -> None:
        if self._over.wait(FIRST):
            return
        from smlocal.job.usage.looking import Looking  # for what runs long enough

        looking = Looking(engine=engine, watched=watched)
        try:
            while True:
                seen = looking.ask()
                with self._lock:
                    if self._over.is_set():
                        return
                    self._looking = looking
                    looking.keep(seen)
                if self._over.wait(looking.pause):
                    return
        finally:
            with self._lock:
                looking.release()
