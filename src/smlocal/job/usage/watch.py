"""Watches what one container uses, beside everything else: nothing waits for it, and short jobs never hear of it."""

from collections.abc import Callable, Sequence
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING

from smlocal.job.usage.sampling_rate import FIRST

if TYPE_CHECKING:
    from smlocal.engine.interface import Engine
    from smlocal.job.usage.sampler import Looking


class UsageWatch:
    """One container's. `begin` and `close` return at once, whatever the engine does."""

    __slots__ = ("_lock", "_looking", "_over")

    def __init__(self) -> None:
        """Nothing is watched yet."""
        self._over = Event()
        self._lock = Lock()
        self._looking: Looking | None = None

    def begin(
        self,
        engine: "Engine",
        container: str,
        *,
        path: str,
        gpus: Sequence[str] | None,
        folders: Sequence[tuple[str, str]],
        started_before: bool = False,
    ) -> None:
        """The container runs. Its usage is kept at `path`, that of its folders (here, there) from its end.

        `started_before`: it has run for a while, and perhaps another process watched it.
        """

        def look() -> "Looking":
            from smlocal.job.usage.sampler import Looking  # for what runs long enough

            return Looking(
                engine=engine, container=container, path=path, gpus=gpus, folders=folders, started_before=started_before
            )

        Thread(target=self._watch, args=(look, path), name=f"{container[:12]}-usage", daemon=True).start()

    def close(self) -> None:
        """The container has ended: keep what was seen, and count its folders."""
        self._over.set()
        with self._lock:
            if self._looking is not None:
                self._looking.finish()
                self._looking = None

    def _watch(self, look: Callable[[], "Looking"], path: str) -> None:
        try:
            self._look_on(look)
        except Exception as error:  # noqa: BLE001 - a job does not end for want of its usage, but its report says so
            from smlocal.job.usage.series import SeriesFile

            SeriesFile(path).note(f"Its usage was not measured to the end: {type(error).__name__}: {error}")

    def _look_on(self, look: Callable[[], "Looking"]) -> None:
        if self._over.wait(FIRST):
            return
        looking = look()
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
