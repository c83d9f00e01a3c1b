"""The supervisor of a training job that something breaks off, with a store and folders, and without containers."""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from smlocal.data.artifacts.job_artifacts import NO_ARTIFACTS
from smlocal.engine.engines import Engines, engines_at
from smlocal.engine.interface import JOB_LABEL, RUN_LABEL, ContainerState, Engine, Resource, ResourceKind
from smlocal.errors import EngineLostError, EngineUnreachableError, HomeUnusableError
from smlocal.jobs.container_supervisor import ContainerSupervisor
from smlocal.jobs.containers import HOST_LABEL
from smlocal.jobs.context import ContainerContext
from smlocal.jobs.control.requests import StopRequests
from smlocal.jobs.decide.attempt_outcome import AttemptOutcome, HostEnd
from smlocal.jobs.decide.events import StopAsked
from smlocal.jobs.documents import LOCAL
from smlocal.jobs.finish.describe import reserve_space
from smlocal.jobs.planning.model import JobPlan, host_directory
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.supervision import make_context
from smlocal.jobs.view import Reporter
from smlocal.terms.statuses import INTERNAL_ERROR, JobPhase, JobStatus, StopCause

NAME = "job-1"
ABSENT = "unix:///absent.sock"
FULL = "ClientError: Artifact upload failed:Insufficient disk space"
EXITED = HostEnd(host="algo-1", exit_code=1)
FAILED = AttemptOutcome(ends=(EXITED,), first_failure="algo-1")
STOPPED = AttemptOutcome(stopped=StopCause.REQUEST)


class Phases(Reporter):
    """Notes in which phases the reserve was there."""

    def __init__(self, reserve: Path) -> None:
        self.reserve, self.reserved = reserve, dict[str, bool]()

    def phase_began(self, phase: str) -> None:
        self.reserved[phase] = self.reserve.exists()


@pytest.fixture
def supervisor(
    tmp_path: Path, plan: Callable[..., JobPlan], monkeypatch: pytest.MonkeyPatch
) -> Iterator[ContainerSupervisor]:
    """Of a job whose container has run and written a model."""
    monkeypatch.setenv("SMLOCAL_ENGINE_TIMEOUT", "0.1")  # the engine never comes back
    directory = tmp_path / "jobs" / NAME
    made = plan({"InputDataConfig": None}, job_directory=str(directory))
    engines = engines_at([ABSENT])
    with Store.open(str(tmp_path)) as store, StopRequests() as requests:
        store.create(
            NAME,
            run_id=made.run_id,
            created=time.time(),
            documents={"request": dict(made.request)},
            supervisor_pid=os.getpid(),
        ).release()
        reporter = Phases(directory / ".reserve")
        context = ContainerContext.of(
            make_context(NAME, store=store, reporter=reporter, stop_requests=requests), engines
        )
        context.phases.begin()
        reserve_space(str(directory))
        model = Path(host_directory(made, made.hosts[0]), "model")
        model.mkdir(parents=True)
        (model / "m").write_text("learnt")
        one = ContainerSupervisor(context=context, plan=made)
        one.attempt.ran = True
        yield one


def raises(error: Exception) -> Callable[[], None]:
    def run() -> None:
        raise error

    return run


def kept(supervisor: ContainerSupervisor) -> str:
    """The model in the folder that the results name."""
    folder = supervisor.context.store.document(NAME, LOCAL)["Artifacts"]["Kept"]
    return Path(folder, "algo-1", "model", "m").read_text()


@pytest.mark.parametrize(
    ("outcome", "status", "reason"),
    [
        (AttemptOutcome(), JobStatus.FAILED, FULL),
        (FAILED, JobStatus.FAILED, "AlgorithmError: , exit code: 1"),
        (STOPPED, JobStatus.STOPPED, None),
    ],
)
def test_a_full_home_keeps_the_output_and_the_end(
    supervisor: ContainerSupervisor, outcome: AttemptOutcome, status: JobStatus, reason: str | None
) -> None:
    supervisor.attempt.outcome = outcome
    supervisor.run_and_finish(raises(HomeUnusableError("the disk is full", details=["/home"])))
    record = supervisor.context.store.get(NAME)
    assert (record.status, record.failure_reason) == (status, reason)
    assert supervisor.attempt.explanation == "the disk is full; /home"
    assert kept(supervisor) == "learnt"


def test_an_unexpected_error_keeps_the_output_and_the_end(supervisor: ContainerSupervisor) -> None:
    supervisor.attempt.outcome = FAILED
    with pytest.raises(KeyError):
        supervisor.run_and_finish(raises(KeyError("defect")))
    assert supervisor.context.store.get(NAME).failure_reason == "AlgorithmError: , exit code: 1"
    assert kept(supervisor) == "learnt"


def test_a_lost_engine_keeps_the_output(supervisor: ContainerSupervisor) -> None:
    supervisor.run_and_finish(raises(EngineLostError("the engine is gone")))
    assert kept(supervisor) == "learnt"


class ReturningEngine:
    """Answers from the second question on, and notes what is done with the job's container."""

    def __init__(self) -> None:
        self.questions = 0
        self.did: list[str] = []

    def owned(self, job: str) -> list[Resource]:
        self.questions += 1
        if self.questions == 1:
            raise EngineUnreachableError("not yet")
        if "remove" in self.did:
            return []
        labels = {JOB_LABEL: job, RUN_LABEL: "0123abcd", HOST_LABEL: "algo-1"}
        return [Resource(kind=ResourceKind.CONTAINER, id="c", labels=labels)]

    def state(self, _: str) -> ContainerState:
        times = "2026-01-01T00:00:00Z"
        return ContainerState(
            status="exited", exit_code=137, oom_killed=False, error="", started_at=times, finished_at=times
        )

    def signal(self, _: str, signal: str) -> None:
        self.did.append(signal)

    def put_archive(self, *_: object) -> None:
        self.did.append("give back")

    def remove(self, _: Resource) -> None:
        self.did.append("remove")


@pytest.mark.parametrize("known", [True, False], ids=["its-containers", "those-of-an-earlier-attempt"])
def test_an_engine_that_comes_back_gives_folders_back_before_its_containers_go(
    supervisor: ContainerSupervisor, monkeypatch: pytest.MonkeyPatch, known: bool
) -> None:
    monkeypatch.setenv("SMLOCAL_ENGINE_TIMEOUT", "60")
    monkeypatch.setattr(os, "geteuid", lambda: 12345)  # so that the folders are somebody else's
    engine = ReturningEngine()
    supervisor.context.engines = Engines({ABSENT: cast("Engine", engine)})
    if known:
        supervisor.attempt.host_run(supervisor.plan.hosts[0]).take_over("c", running=False)
    supervisor.attempt.lost_engines = {ABSENT}
    supervisor.attempt.outcome = AttemptOutcome(failure=INTERNAL_ERROR)
    supervisor.results.unpacked = True
    supervisor.finish()
    assert list(dict.fromkeys(engine.did)) == ["SIGKILL", "give back", "remove"]
    assert kept(supervisor) == "learnt"
    assert supervisor.context.store.document(NAME, LOCAL)["Leftovers"] == []


def test_another_attempt_makes_nothing_while_the_engine_is_still_lost(supervisor: ContainerSupervisor) -> None:
    supervisor.policy.retries = 1
    supervisor.attempt.lost_engines = {ABSENT}
    supervisor.attempt.outcome = AttemptOutcome(failure=INTERNAL_ERROR)
    supervisor.run_and_finish(supervisor.after_training)
    assert supervisor.policy.attempts == 2
    assert supervisor.attempt.runs == {}
    assert "engine" in (supervisor.attempt.explanation or "")
    assert supervisor.attempt.outcome.failure == INTERNAL_ERROR


def test_what_has_been_packed_is_not_kept(supervisor: ContainerSupervisor) -> None:
    supervisor.results.artifacts = NO_ARTIFACTS
    supervisor.run_and_finish(raises(HomeUnusableError("the disk is full")))
    assert supervisor.context.store.document(NAME, LOCAL)["Artifacts"]["Kept"] is None


def test_an_attempt_that_never_ran_keeps_nothing(supervisor: ContainerSupervisor) -> None:
    supervisor.attempt.ran = False
    supervisor.run_and_finish(raises(HomeUnusableError("the disk is full")))
    assert supervisor.context.store.document(NAME, LOCAL)["Artifacts"]["Kept"] is None


def test_the_reserve_is_free_before_the_upload_is_recorded(supervisor: ContainerSupervisor) -> None:
    supervisor.attempt.outcome = replace(STOPPED, ends=(EXITED,))
    supervisor.run_and_finish(supervisor.after_training)
    reporter = supervisor.context.reporter
    assert isinstance(reporter, Phases)
    assert reporter.reserved == {JobPhase.STARTING: False, JobPhase.UPLOADING: False}


def test_a_stop_counts_that_the_full_home_cannot_record(
    supervisor: ContainerSupervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = supervisor.context.store

    def full(*_: object, **__: object) -> None:
        raise HomeUnusableError("the disk is full")

    monkeypatch.setattr(store, "add_request", full)
    supervisor.attempt.host_run(supervisor.plan.hosts[0])
    supervisor.context.events.put(StopAsked(cause=StopCause.REQUEST))
    supervisor.run_and_finish(lambda: supervisor.attempt.watch_running(stop=False))
    assert store.get(NAME).status is JobStatus.STOPPED
    assert kept(supervisor) == "learnt"
