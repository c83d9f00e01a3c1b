"""Run one job of a check to its end, do to it what its scenario says, and note what can be known of it."""

import copy
import os
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import ceil

from smlocal.api.run import run
from smlocal.api.training_job import TrainingJob
from smlocal.base.quick_dataclass import dataclass
from smlocal.check.jobs.interface import (
    CheckedHost,
    Folders,
    JobResult,
    Meanwhile,
    Process,
    Request,
    Scenario,
    StopSeen,
    handles_sigterm,
)
from smlocal.check.jobs.request import CHECKPOINTS
from smlocal.engine.interface import Engine, ResourceKind
from smlocal.errors import EngineError, JobFinishedError, JobNotInterruptibleError, JobUnknownError

_LINES = 200
_SLOWER = 10
"""How many times as long as the plain job a job may take that shares the processors with others."""
_POLL_SECONDS = 0.03


@dataclass(kw_only=True, slots=True)
class _Seen:
    """What was seen while the job ran."""

    stop: StopSeen | None = None
    checkpoints: int = 0


@dataclass(kw_only=True, slots=True)
class _Meddler:
    """Stops or interrupts a job in the middle of its training."""

    name: str
    request: Request
    engine: Engine
    after: float
    """Seconds of training."""
    over: bool = False
    """The job has ended."""

    def stop(self) -> _Seen:
        """Send SIGTERM, and look at the processes until they have ended."""
        if not self._wait_for_training():
            return _Seen()
        time.sleep(self.after)
        container = container_of(self.engine, self.name)
        before = processes(self.engine, container) if container else ()
        if not before:
            return _Seen()
        began = time.monotonic()
        try:
            TrainingJob(self.name).stop(grace=self.request["Local"]["StopGraceSeconds"])
        except JobFinishedError:
            return _Seen()
        first, *others = watch_end(self.engine, container, before, over=lambda: self.over)
        return _Seen(
            stop=StopSeen(
                first=first,
                others=tuple(others),
                seconds=time.monotonic() - began,
                too_early=first.handles_sigterm and not before[0].handles_sigterm,
            )
        )

    def interrupt(self) -> _Seen:
        """Take the instances away once there is a checkpoint, or as late as seems safe."""
        if not self._wait_for_training():
            return _Seen()
        deadline = time.monotonic() + self.after
        while not (count := checkpoints_in(self.request)) and time.monotonic() < deadline and not self.over:
            time.sleep(_POLL_SECONDS)
        try:
            TrainingJob(self.name).interrupt()
        except (JobNotInterruptibleError, JobFinishedError):
            return _Seen()
        return _Seen(checkpoints=count)

    def _wait_for_training(self) -> bool:
        while not self.over:
            try:
                job = TrainingJob(self.name)
                if job.secondary_status == "Training":
                    return True
            except JobUnknownError:  # not yet
                pass
            time.sleep(_POLL_SECONDS)
        return False


def run_job(
    scenario: Scenario, plain: Request, name: str, folders: Folders, engine: Engine, *, plain_seconds: float
) -> JobResult:
    """The job is known to the store afterwards; whoever called removes it.

    `plain_seconds`: how long the plain job trained.
    """
    request = copy.deepcopy(plain)
    scenario.change(request, folders)
    condition = request["StoppingCondition"]
    condition["MaxRuntimeInSeconds"] = max(condition["MaxRuntimeInSeconds"], ceil(plain_seconds * _SLOWER))
    if request.get("CheckpointConfig"):
        request["CheckpointConfig"]["S3Uri"] = os.path.join(folders.data, CHECKPOINTS)
    meddler = _Meddler(name=name, request=request, engine=engine, after=plain_seconds / 2)
    seen = _Seen()
    with ThreadPoolExecutor(1) as beside:
        match scenario.meanwhile:
            case Meanwhile.STOP:
                future = beside.submit(meddler.stop)
            case Meanwhile.INTERRUPT:
                future = beside.submit(meddler.interrupt)
            case Meanwhile.NOTHING:
                future = beside.submit(_Seen)
        try:
            job = run(request, name=name)
        finally:
            meddler.over = True
        seen = future.result()
    return _result(job, request, seen)


def checkpoints_in(request: Request) -> int:
    """How many files there are now."""
    folder = (request.get("CheckpointConfig") or {}).get("S3Uri")
    return sum(len(files) for _, _, files in os.walk(folder)) if folder else 0


def _result(job: TrainingJob, request: Request, seen: _Seen) -> JobResult:
    answer = job.describe()
    local = answer["Local"]
    return JobResult(
        job=job.name,
        status=answer["TrainingJobStatus"],
        secondary=answer["SecondaryStatus"],
        reason=answer.get("FailureReason") or "",
        seconds=(local.get("Seconds") or {}).get("Training", 0.0),
        limit=request["StoppingCondition"]["MaxRuntimeInSeconds"],
        grace=request["Local"]["StopGraceSeconds"],
        hosts=tuple(
            CheckedHost(
                name=host["Name"],
                exit_code=host["ExitCode"],
                oom_killed=host["OomKilled"],
                killed=host["Killed"],
            )
            for host in local["Hosts"]
        ),
        model=job.model is not None,
        log="\n".join(deque(job.logs(), maxlen=_LINES)),
        local=local,
        stop=seen.stop,
        checkpoints=checkpoints_in(request),
        checkpoints_before=seen.checkpoints,
    )


_PROCESS_POLL_SECONDS = 0.1


def container_of(engine: Engine, job: str) -> str:
    """The id of the container of the first host; empty where there is none now."""
    found = [
        each
        for each in engine.owned(job)
        if each.kind is ResourceKind.CONTAINER and each.labels.get("smlocal.host") == "algo-1"
    ]
    return found[0].id if found else ""


def processes(engine: Engine, container: str) -> tuple[Process, ...]:
    """PID 1 comes first; none of a container that does not run, and where the engine cannot tell."""
    try:
        found = engine.processes(container)
    except EngineError:
        return ()
    return tuple(Process(name=each.name, handles_sigterm=handles_sigterm(each.caught)) for each in found)


def watch_end(
    engine: Engine, container: str, before: Sequence[Process], *, over: Callable[[], bool]
) -> tuple[Process, ...]:
    """Wait until the container has ended. A handler that appears only now is one too."""
    first, *others = before
    while not over() and (now := processes(engine, container)):
        first = now[0] if now[0].handles_sigterm else first
        others = list(now[1:]) if len(now) > len(others) else others
        time.sleep(_PROCESS_POLL_SECONDS)
    return first, *others
