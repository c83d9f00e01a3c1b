"""Runs a validated job for a Python call: to its end, or in the background."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from queue import SimpleQueue

    from smlocal.job.reporter import Reporter
    from smlocal.platforms.job_files import AnyJobFile


def run_job(asked: "AnyJobFile", name: str, *, detach: bool, replace: bool, show: bool, strict: bool) -> None:
    """Run it as `smlocal.run` says."""
    from queue import SimpleQueue

    from smlocal.api.execution import execute, execute_in_background
    from smlocal.api.run_in_thread import run_in_thread
    from smlocal.job.control.stop_requests import StopRequests

    if detach:
        reporter = _reporter(None)
        execute_in_background(asked, name=name, strict=strict, replace=replace, reporter=reporter)
        return
    messages: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
    requests = StopRequests()
    execute(
        asked,
        name=name,
        strict=strict,
        replace=replace,
        reporter=_reporter(messages if show else None),
        requests=requests,
        where=lambda supervise: run_in_thread(supervise, requests, messages),
    )


def _reporter(messages: "SimpleQueue[Callable[[], None] | None] | None") -> "Reporter":
    if messages is None:
        from smlocal.job.reporter import Reporter

        return Reporter()
    from smlocal.api.printed import Printed

    return Printed(messages)
