"""Stage and start all hosts of an attempt."""

from collections.abc import Sequence
from importlib import import_module

from smlocal.base.parallel import run_each, run_parallel
from smlocal.job.control.stop_requests import StopRequests
from smlocal.job.host.host_run import HostRun
from smlocal.job.mirrored.checkpoints import delete_downloaded_checkpoints

_AT_ONCE = 8
"""More at once make neither the engine nor a disk faster."""


def stage_hosts(runs: Sequence[HostRun], stop_requests: StopRequests) -> None:
    """Prepare all hosts; `StagingStoppedError` if a request comes meanwhile."""
    if len(runs) == 1:
        runs[0].prepare(stop_requests.interruptible)
    else:
        from smlocal.job.host.staging import download_once

        download_once(runs[0].plan, runs[0].delivery, stop_requests.interruptible)
        run_parallel(lambda run: run.prepare(stop_requests.checked), runs, at_once=_AT_ONCE)
    delete_downloaded_checkpoints(runs[0].plan)
    for run in runs:
        run.delivery.open_pipes(run.host, stop_requests.interruptible)


def start_hosts(runs: Sequence[HostRun]) -> tuple[list[HostRun], Exception | None]:
    """Start all hosts at the same time; returns those that were started, and the first error."""

    def import_the_rest() -> None:
        """A start takes 0.17 s. Meanwhile, import what is needed when the containers have ended."""
        for module in ("artifacts.archive", "artifacts.engine_copy", "job.host.failure_file"):
            import_module(f"smlocal.{module}")

    errors = run_each(lambda run: run.start(), runs, meanwhile=import_the_rest)
    return [run for number, run in enumerate(runs) if number not in errors], next(iter(errors.values()), None)
