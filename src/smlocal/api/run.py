"""`smlocal.run` and `smlocal.plan`."""

from typing import TYPE_CHECKING, Unpack

from smlocal.api.job_source import JobSource, read_source
from smlocal.api.overrides import Overrides
from smlocal.api.training_job import TrainingJob

if TYPE_CHECKING:
    from collections.abc import Callable
    from queue import SimpleQueue

    from smlocal.job.reporter import Reporter
    from smlocal.planning.model import JobPlan


def run(
    job: JobSource | None = None,
    *,
    detach: bool = False,
    replace: bool = False,
    show: bool = False,
    strict: bool = False,
    **overrides: Unpack[Overrides],
) -> TrainingJob:
    """Run a training job to its end, as `smlocal run` does.

    `job` is a job file, a CreateTrainingJob request as a dict, or nothing: then `image=` describes the job. Keywords
    override it. A job that fails or is stopped raises nothing: look at `status`. What is refused, and what this machine
    lacks, is an error of `smlocal.errors`, and no job is made.

    `detach` returns as soon as the job has its supervisor, a process of its own. `replace` forgets a finished job of
    the same name. `show` prints phases and the containers' output to `sys.stdout`. `strict` accepts only what the
    service accepts.

    KeyboardInterrupt stops the job as `smlocal stop` does, a second one kills it; it is raised once the job has ended.
    """
    from queue import SimpleQueue

    from smlocal.api.execution import execute, execute_in_background
    from smlocal.api.run_in_thread import run_in_thread
    from smlocal.job.control.stop_requests import StopRequests

    asked, name = read_source(job, overrides, strict=strict)
    if detach:
        reporter = _reporter(None)
        execute_in_background(asked, name=name, strict=strict, replace=replace, reporter=reporter)
        return TrainingJob(name)
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
    return TrainingJob(name)


def plan(job: JobSource | None = None, *, strict: bool = False, **overrides: Unpack[Overrides]) -> "JobPlan":
    """What `run` would do: the object that it would execute. Nothing is run or pulled."""
    from smlocal.api.execution import plan_only

    asked, name = read_source(job, overrides, strict=strict)
    return plan_only(asked, name=name, strict=strict)


def _reporter(messages: "SimpleQueue[Callable[[], None] | None] | None") -> "Reporter":
    if messages is None:
        from smlocal.job.reporter import Reporter

        return Reporter()
    from smlocal.api.printed import Printed

    return Printed(messages)
