"""Measures what a container uses, in a thread that nothing waits for, if it runs for more than a second.

A short job imports nothing else for it.
"""

from collections.abc import Callable, Sequence
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING

from smlocal.base.at_use import at_use
from smlocal.engine.interface import Engine

if TYPE_CHECKING:
    from smlocal.jobs.usage.sampler import Sampler
    from smlocal.jobs.usage.series import SeriesFile
else:
    SeriesFile = at_use("smlocal.jobs.usage.series", "SeriesFile")

_FIRST_SECONDS = 1.0


def usage_directory(job_directory: str) -> str:
    """The folder with a file per host. It does not exist while nothing has been measured."""
    return f"{job_directory}/usage"


def series_path(job_directory: str, host: str) -> str:
    """The file of one host."""
    return f"{usage_directory(job_directory)}/{host}.csv"


class UsageWatch:
    """The watch of one container. `begin` and `close` return at once, however long the engine takes to answer."""

    __slots__ = ("_ended", "_lock", "_sampler")

    def __init__(self) -> None:
        self._ended = Event()
        self._lock = Lock()
        self._sampler: Sampler | None = None

    def begin(
        self,
        engine: Engine,
        container: str,
        *,
        path: str,
        gpus: Sequence[str] | None,
        folders: Sequence[tuple[str, str]],
        started_before: bool = False,
    ) -> None:
        """The container runs. Its usage is written to `path`; the arguments are those of `Sampler`.

        `started_before`: it has run for a while, and another process may have measured it.
        """

        def sampler() -> "Sampler":
            from smlocal.jobs.usage.sampler import Sampler  # not for short jobs

            elapsed = None if started_before else _FIRST_SECONDS
            return Sampler(engine, container, path=path, gpus=gpus, folders=folders, elapsed=elapsed)

        Thread(target=self._watch, args=(sampler, path), name=f"{container[:12]}-usage", daemon=True).start()

    def close(self) -> None:
        """The container has ended. Write the measured figures, and the sizes of its folders."""
        self._ended.set()
        with self._lock:
            if self._sampler is not None:
                self._sampler.finish()
                self._sampler = None

    def _watch(self, make: "Callable[[], Sampler]", path: str) -> None:
        if self._ended.wait(_FIRST_SECONDS):
            return
        try:
            sampler = make()
            while not self._ended.is_set():
                sample = sampler.ask()
                with self._lock:
                    if self._ended.is_set():
                        return
                    self._sampler = sampler
                    sampler.keep(sample)
                self._ended.wait(sampler.pause)
        except Exception as error:  # noqa: BLE001 - it must not fail the job, but the report mentions it
            SeriesFile(path).note(f"Its usage was not measured to the end: {type(error).__name__}: {error}")
