"""Run the jobs of a check: the plain one first, then the others side by side, all removed again in the end."""

import copy
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from math import ceil
from threading import Lock
from types import TracebackType
from typing import Self

from smlocal.api.run import run
from smlocal.api.training_job import TrainingJob
from smlocal.base.quick_dataclass import dataclass
from smlocal.check.cannot_look import NOT_READY, CannotLookError, code_of
from smlocal.check.check_folder import CheckFolder, Said, remove_job
from smlocal.check.jobs.interface import (
    ORDINARY_ENGINE,
    PLAIN,
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
from smlocal.check.jobs.request import CHECKPOINTS, Plain, plain_job
from smlocal.engine.interface import Engine, ResourceKind
from smlocal.errors import (
    EngineError,
    EngineLostError,
    EngineUnreachableError,
    ImageMissingError,
    JobFinishedError,
    JobNotInterruptibleError,
    JobUnknownError,
    SmlocalError,
)
from smlocal.sagemaker.jobfile.job_file import JobFile

_MOST_AT_ONCE = 8
_POLL_SECONDS = 0.1

_GENERAL = (EngineLostError, EngineUnreachableError, ImageMissingError)
"""Errors that end a check. After any other error the rules that need the job are skipped."""

_FIRST = "solve that first"


class RunningJobs:
    """The jobs of one check, which is over when this is closed: nothing of them is left then."""

    def __init__(
        self,
        image: str,
        job: JobFile | None,
        engine: Engine,
        folder: CheckFolder,
        *,
        timeout: int,
        said: Said = lambda _: None,
    ) -> None:
        """Nothing is run yet. `timeout` is the limit of each job; `said` is told which job runs, and how it ended."""
        self.guessed = job is None
        self._image, self._job, self._engine, self._folder = image, job, engine, folder
        self._timeout = timeout
        self._said = said
        self._plain: Plain | None = None
        self._no_plain: CannotLookError | None = None
        self._pool = ThreadPoolExecutor(max(2, min(os.cpu_count() or 1, _MOST_AT_ONCE)), "smlocal-check")
        self._futures: dict[str, Future[JobResult]] = {}
        self._active: set[str] = set()
        self._lock = Lock()
        self._closing = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @property
    def plain(self) -> Plain:
        """The start of all jobs."""
        if self._no_plain is not None:
            raise CannotLookError(str(self._no_plain), test=self._no_plain.test, code=self._no_plain.code)
        if self._plain is None:
            try:
                self._plain = plain_job(self._image, self._job, self._folder.path, self._timeout)
            except CannotLookError as error:
                self._no_plain = error
                raise
            except _GENERAL:
                raise
            except SmlocalError as error:
                self._no_plain = CannotLookError(error.with_details, test=_FIRST, code=code_of(error))
                raise self._no_plain from error
        return self._plain

    @property
    def request(self) -> Request:
        """The request of the plain job."""
        return self.plain.request

    @property
    def channels(self) -> tuple[str, ...]:
        """Those of the request."""
        return tuple(each["ChannelName"] for each in self.request.get("InputDataConfig") or ())

    @property
    def memory(self) -> int:
        """As the plain job has it."""
        return self.plain.memory

    def start(self, scenarios: Iterable[Scenario]) -> None:
        """Run the plain job to its end; if it completes, begin the others."""
        self._said("running the job as it is")
        try:
            plain = self.result(PLAIN)
        except CannotLookError:
            return  # every rule will say why
        if plain.completed:
            others = {each.id: each for each in scenarios if each.id != PLAIN.id and not self._cannot_see(each)}
            if others:
                self._said(f"running as well: {', '.join(others)}")
            for each in others.values():
                self._begin(each)

    def result(self, scenario: Scenario) -> JobResult:
        """Wait for the end of a job."""
        if why := self._cannot_see(scenario):
            raise CannotLookError(why, test=ORDINARY_ENGINE)
        try:
            result = self._begin(scenario).result()
        except _GENERAL:
            raise
        except SmlocalError as error:
            why = "; ".join([error.sentence, *error.details])
            test = _FIRST if self._engine.facts().place is None else ORDINARY_ENGINE
            code = code_of(error) if scenario.id == PLAIN.id else 0  # another job may ask for more than there is
            raise CannotLookError(f"the job {scenario.id} was not run: {why}", test=test, code=code) from error
        if scenario.id == PLAIN.id and result.by_machine:
            raise CannotLookError(
                f"this machine did not bring the job to its end ({result.how})",
                result.details,
                test=_FIRST,
                code=NOT_READY,
            )
        return result

    def _cannot_see(self, scenario: Scenario) -> str:
        """Why nothing would be seen of a job that gets a signal; empty if it would be."""
        place = self._engine.facts().place
        if place is None or scenario.meanwhile is not Meanwhile.STOP:
            return ""
        return f"{place.name} is not known to list the processes of a container"

    def _begin(self, scenario: Scenario) -> Future[JobResult]:
        _ = self.plain
        if scenario.id not in self._futures:
            self._futures[scenario.id] = self._pool.submit(self._run, scenario, len(self._futures))
        return self._futures[scenario.id]

    def _run(self, scenario: Scenario, number: int) -> JobResult:
        name = self._folder.name_of(f"{number}-{scenario.id}")
        folders = Folders(data=os.path.join(self._folder.path, str(number)), first_files=self.plain.first_files)
        os.makedirs(folders.data)
        with self._lock:
            if self._closing:
                raise CannotLookError("the check was interrupted")
            self._active.add(name)
        known = 0.0 if scenario.id == PLAIN.id else self.result(PLAIN).seconds
        began = time.monotonic()
        try:
            result = run_job(scenario, self.request, name, folders, self._engine, plain_seconds=known)
        except SmlocalError as error:
            self._said(f"{scenario.id}: {error.sentence}")
            if self._engine.image(self._image) is None:
                raise ImageMissingError(f"the image {self._image} was removed while it was being checked") from error
            raise
        how = "failed, as expected" if scenario.broken and result.status == "Failed" else result.ended_as
        self._said(f"{scenario.id}: {how}, {time.monotonic() - began:.1f} s{_of_stop(result.stop)}")
        remove_job(name)
        with self._lock:
            self._active.discard(name)
        return result

    def close(self) -> None:
        """Stop what still runs, and remove everything."""
        with self._lock:
            self._closing = True
        self._pool.shutdown(wait=False, cancel_futures=True)
        pending = [each for each in self._futures.values() if not each.done()]
        if pending:
            self._said("stopping the jobs of the check")
        while any(not each.done() for each in pending):
            for name in self._left():
                with suppress(JobUnknownError):
                    _stop(name)
            time.sleep(_POLL_SECONDS)
        self._pool.shutdown()
        try:
            for name in self._left():
                remove_job(name)
        except SmlocalError as error:
            self._folder.say_of_leftovers(error)

    def _left(self) -> tuple[str, ...]:
        with self._lock:
            return tuple(self._active)


def _of_stop(stop: StopSeen | None) -> str:
    if stop is None:
        return ""
    handler = "a handler" if stop.first.handles_sigterm else "no handler"
    return f" ({stop.seconds:.1f} s after SIGTERM; {stop.first.name}, the first process, has {handler} for it)"


def _stop(name: str) -> None:
    """Kill a job that runs in another thread of this process, and let that thread end it."""
    with suppress(JobFinishedError):
        TrainingJob(name).stop(grace=0)


_LINES = 200
_SLOWER = 10
"""How many times as long as the plain job a job may take that shares the processors with others."""
_POLL_ONE_SECONDS = 0.03


@dataclass(kw_only=True, slots=True)
class _Seen:
    """Observations while the job ran."""

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
            time.sleep(_POLL_ONE_SECONDS)
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
            time.sleep(_POLL_ONE_SECONDS)
        return False


def run_job(
    scenario: Scenario, plain: Request, name: str, folders: Folders, engine: Engine, *, plain_seconds: float
) -> JobResult:
    """The job is known to the store afterwards; the caller removes it.

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
        archive=(answer["Local"].get("Artifacts") or {}).get("Model") or "",
        log="\n".join(deque(job.logs(), maxlen=_LINES)),
        local=local,
        stop=seen.stop,
        checkpoints=checkpoints_in(request),
        checkpoints_before=seen.checkpoints,
    )


_PROCESS_POLL_SECONDS = 0.1


def container_of(engine: Engine, job: str, host: str = "algo-1") -> str:
    """The id of the container of a host; empty where there is none now."""
    found = [
        each
        for each in engine.owned(job)
        if each.kind is ResourceKind.CONTAINER and each.labels.get("smlocal.host") == host
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
