"""Start all hosts side by side, so that no peer waits for another's start."""

from collections.abc import Sequence
from importlib import import_module
from threading import Thread

from smlocal.errors import EngineError, StagingError
from smlocal.job.host_run import HostRun

Trouble = EngineError | StagingError | OSError
"""What can go wrong while a host is started, the copying included that stands in for an overlay."""


def start_all(runs: Sequence[HostRun]) -> tuple[list[HostRun], Trouble | None]:
    """The hosts that were started, and the first error of one that was not."""
    errors: dict[str, Trouble] = {}
    threads = [Thread(target=_start, args=(run, errors), name=f"{run.name}-start") for run in runs]
    for thread in threads:
        thread.start()
    _use_the_time()
    for thread in threads:
        thread.join()
    started = [run for run in runs if run.name not in errors]
    return started, next(iter(errors.values()), None)


def _use_the_time() -> None:
    """Import what is needed once the containers have ended: the engine needs a sixth of a second to start one."""
    for module in ("artifacts.archive", "artifacts.fetch", "job.failure_file"):
        import_module(f"smlocal.{module}")


def _start(run: HostRun, errors: dict[str, Trouble]) -> None:
    try:
        run.start()
    except (EngineError, StagingError, OSError) as error:
        errors[run.name] = error
