"""Start all hosts side by side, so that no peer waits for another's start."""

from collections.abc import Sequence
from importlib import import_module
from threading import Thread

from smlocal.job.host.host_run import HostRun


def start_all(runs: Sequence[HostRun]) -> tuple[list[HostRun], Exception | None]:
    """The hosts that were started, and the first error of one that was not."""
    errors: dict[str, Exception] = {}
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
    for module in ("artifacts.archive", "artifacts.fetch", "job.host.failure_file"):
        import_module(f"smlocal.{module}")


def _start(run: HostRun, errors: dict[str, Exception]) -> None:
    try:
        run.start()
    except Exception as error:  # noqa: BLE001 - the thread that started this one has to learn of anything
        errors[run.name] = error
