"""Stage every host and make its container: what comes over the network once, then all hosts side by side."""

from collections.abc import Sequence

from smlocal.job.control.stop_requests import StopRequests
from smlocal.job.host.host_run import HostRun
from smlocal.job.mirrored.checkpoints import drop_fetched

_AT_ONCE = 8
"""The engine makes no more containers in a second for having more asked of it, and a disk copies no faster."""


def stage_hosts(runs: Sequence[HostRun], signals: StopRequests) -> None:
    """Make all ready to start; `BrokenOffError` when somebody wants something before that is done."""
    if len(runs) == 1:
        runs[0].prepare(signals.interruptible)
    else:
        from smlocal.job.host.parallel import side_by_side  # most jobs have one host
        from smlocal.job.host.staging import fetch

        fetch(runs[0].plan, runs[0].delivery, signals.interruptible)
        side_by_side(lambda run: run.prepare(signals.checked), runs, at_once=_AT_ONCE)
    drop_fetched(runs[0].plan)
    for run in runs:
        run.delivery.open_pipes(run.host, signals.interruptible)
