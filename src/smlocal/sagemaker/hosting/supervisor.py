"""Supervises an endpoint: unpacks its model, waits for the first ping, starts its container again, and answers."""

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any, Final

from smlocal.base.foreign_archive.stream import ArchiveError
from smlocal.base.quick_dataclass import dataclass
from smlocal.base.removal import remove_tree
from smlocal.errors import EngineError, MachineNotReadyError
from smlocal.jobs.contract.failures import INTERNAL_ERROR, FailureKind, input_failure
from smlocal.jobs.contract.statuses import FAILED, STOPPED, Ending, JobPhase, PhaseMessage, StopCause
from smlocal.jobs.control.found_containers import FoundContainers
from smlocal.jobs.control.requests import StagingStoppedError
from smlocal.jobs.decide.attempt_outcome import HostEnd
from smlocal.jobs.decide.events import ContainerExited, Event, ThreadDied, Woken
from smlocal.jobs.finish.cleanup import clear_attempt
from smlocal.jobs.history import Past
from smlocal.jobs.host.host_run import HostRun
from smlocal.jobs.host.staging import file_systems
from smlocal.jobs.logs.log_readers import logged_by
from smlocal.jobs.planning.aspects.serving.plan import ServingPlan
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.supervisor import Supervisor
from smlocal.sagemaker.hosting import facts
from smlocal.sagemaker.hosting.front import Front, Identity
from smlocal.sagemaker.hosting.model_data import unpack_model
from smlocal.sagemaker.hosting.named_endpoint import settle
from smlocal.sagemaker.hosting.ping import ping
from smlocal.sagemaker.hosting.running import reason_of
from smlocal.sagemaker.hosting.state import HOSTING, State, invocation_address, read_state, shown

_FIRST_PAUSES: Final = (0.03, 0.5)
"""Between pings of a container that has just been started: the shortest and the longest."""
_PING_EVERY: Final = 5.0
"""Seconds between pings in service: inferred."""
_MOST_EARLY_ENDS: Final = 3
"""A container that ends so often before it has answered a ping is not started again."""
_SOON: Final = 10.0
"""Seconds. A container that ends sooner is started again after a pause that grows."""
_LONGEST_PAUSE: Final = 30.0


@dataclass(kw_only=True, slots=True)
class HostingSupervisor(Supervisor):
    """Takes one recorded endpoint to its end."""

    serving: ServingPlan = field(init=False)
    state: State = field(default_factory=State)
    front: Front | None = None
    started: float = 0.0
    """When the container was started, by the monotonic clock."""
    pause: float = 0.0
    """Before the next restart."""
    taken_over: bool = False
    """True while the container is one of an earlier supervisor: some of its output was not read."""

    def __post_init__(self) -> None:
        Supervisor.__post_init__(self)
        if self.plan.serving is None:
            raise AssertionError(self.plan.name)  # every endpoint has one
        self.serving = self.plan.serving
        self.state = read_state(self.context.store.document(self.plan.name, HOSTING))

    def run_attempts(self) -> None:
        """Make the container, and serve until somebody stops it."""
        if not self._brought_model():
            return
        self.attempt.download(self.pull_refused)
        if not self.attempt.over:
            self.context.reporter.working("waiting for an answer to /ping")
            if self._started(self._run.start):
                self._serve(healthy=False)

    def resume(self, past: Past, found: FoundContainers, phase: JobPhase) -> None:
        """Continue an endpoint whose supervisor was killed at any moment."""
        attempt, (host,) = self.attempt, self.plan.hosts
        attempt.outcome = past.outcome
        there = found.hosts.get(host.host.name)
        if there is None:
            clear_attempt(self.context.engines, self.plan)
            if not attempt.over:
                self.run_attempts()
            return
        run = attempt.host_run(host)
        run.logged_before = self.state.logged.get(run.name, 0)
        run.take_over(there.id, running=there.running)
        run.staged = file_systems(self.plan, host)
        run.complete_log(later=True)
        self._reopen_credentials()
        if attempt.over:
            code, killed = there.state.exit_code, there.state.oom_killed
            ended = [] if there.running else [ContainerExited(container=run.name, exit_code=code, oom_killed=killed)]
            attempt.resume_watching(past, ended, past.grace)
            run.complete_log()
            return
        attempt.ran = self.taken_over = True
        self.started = time.monotonic()
        healthy = phase is JobPhase.TRAINING
        if there.running:
            run.resume_watching(read=True)
        else:
            self.context.phases.go_on()
            run.container.exited = True
            self.context.events.put(ContainerExited(container=run.name, exit_code=there.state.exit_code))
        if healthy:
            self._open_front()
        self._serve(healthy=healthy)
        if self.taken_over:
            run.complete_log()

    @classmethod
    def logged_before(cls, store: Store, name: str) -> Mapping[str, int]:
        """Bytes of each log from containers before the last one."""
        return read_state(store.document(name, HOSTING)).logged

    def decide(self) -> tuple[Ending, str | None]:
        """How the endpoint ends, and why, in the service's words."""
        outcome = self.attempt.outcome
        if outcome.failure is not None:
            return FAILED, reason_of(outcome.failure, self._host)
        if outcome.first_failure is not None:
            return FAILED, facts.not_healthy(self._host)
        return STOPPED[outcome.stopped or StopCause.REQUEST], None

    def more_results(self) -> dict[str, Any]:
        """Where it was invoked, and how often its container was started again."""
        return shown(self.state.document(), self._endpoint)

    def finish(self) -> None:
        """Answer nobody any more, then end."""
        if self.front is not None:
            self.front.close()
        Supervisor.finish(self)

    @property
    def _endpoint(self) -> str:
        """The name under which it answers: an update is a job of another name."""
        return str(self.plan.request["EndpointName"])

    @property
    def _host(self) -> str:
        return self.plan.hosts[0].host.name

    @property
    def _run(self) -> HostRun:
        return self.attempt.runs[self._host]

    def _store(self) -> None:
        self.context.store.put_document(self.plan.name, HOSTING, self.state.document())

    def _brought_model(self) -> bool:
        """Unpack the archive into the folder that is mounted; False if it fails the endpoint, or a stop came first."""
        folder = f"{self.plan.job_directory}/staged/model"
        done = self.plan.trees[0].listing.root != folder
        while not done and not self.attempt.over:
            try:
                remove_tree(folder)
                if self.serving.archive:
                    os.makedirs(os.path.dirname(folder), exist_ok=True)
                    unpack_model(self.serving.archive, folder, check=self.context.stop_requests.check)
                else:
                    os.makedirs(folder)
                done = True
            except StagingStoppedError:
                self.attempt.handle_late_requests()
            except ArchiveError as error:
                self._fail(facts.not_extracted(self.serving.uri), f"the archive cannot be unpacked: {error}")
            except OSError as error:
                self._fail(facts.not_downloaded(self.serving.uri), str(error))
        return done

    def _fail(self, reason: str, explanation: str) -> None:
        self.attempt.fail(input_failure(reason), explanation)

    def _started(self, start: Callable[[], None]) -> bool:
        """Start the container; False if that fails the endpoint."""
        try:
            start()
        except (EngineError, MachineNotReadyError) as error:
            self.attempt.start_failed(error)
            failure = self.attempt.outcome.failure
            if failure is not None and failure.kind is FailureKind.START:
                self.attempt.explanation = f"the container cannot be started: {error.sentence}"
            return False
        self.attempt.ran = True
        self.started = time.monotonic()
        self.attempt.on_running()
        return True

    def _serve(self, *, healthy: bool) -> None:
        """Until a stop, a failure, or something that ends every job: those are watched as in a job."""
        deadline, pause, early = time.monotonic() + self.serving.startup, _FIRST_PAUSES[0], 0
        at = time.monotonic() + (_PING_EVERY if healthy else 0.0)
        for request in self.context.stored_requests.read():
            self.context.events.put(request)
        while True:
            event = self._next(at)
            if isinstance(event, ContainerExited):
                early += not healthy
                if early >= _MOST_EARLY_ENDS:
                    self._gave_up(event, early)
                    return
                if not self._restarted(event, healthy=healthy):
                    return
                at, pause = time.monotonic(), _FIRST_PAUSES[0]
            elif event is not None:
                self.context.events.put(event)
                self.attempt.watch_running(stop=False)
                return
            elif healthy:
                self._look()
                at = time.monotonic() + (_PING_EVERY if self.state.trouble is None else _FIRST_PAUSES[1])
            else:
                trouble = self._ping()
                if trouble is None:
                    healthy = True
                    self._in_service()
                    at = time.monotonic() + _PING_EVERY
                elif time.monotonic() >= deadline:
                    self._fail(facts.not_healthy(self._host), f"{trouble}, for {self.serving.startup:g} s")
                    self.attempt.watch_running(stop=True)
                    return
                else:
                    at = min(time.monotonic() + pause, deadline)
                    pause = min(pause * 1.1, _FIRST_PAUSES[1])

    def _gave_up(self, event: ContainerExited, times: int) -> None:
        self._run.container.join()
        end = HostEnd(host=self._host, exit_code=event.exit_code, oom_killed=event.oom_killed)
        self.attempt.outcome = replace(self.attempt.outcome, ends=(end,), first_failure=self._host)
        self._fail(
            facts.not_healthy(self._host),
            f"the container ended {times} times before it answered /ping, with exit code {event.exit_code}",
        )

    def _next(self, at: float) -> Event | None:
        """The next event; None when it is time for a ping."""
        while True:
            event = self.context.events.next(max(0.0, at - time.monotonic()))
            for request in self.context.stored_requests.read():
                self.context.events.put(request)
            if not isinstance(event, Woken):
                if isinstance(event, ContainerExited) and not self.context.events.empty():
                    later = self.context.events.next(0)  # a stop that was stored before the end counts first
                    self.context.events.put(event)
                    if later is not None and not isinstance(later, Woken):
                        return later
                    continue
                return event

    def _address(self) -> tuple[str, int] | None:
        """Where the container is reached; None if it has no address now."""
        if self.serving.published:
            return "127.0.0.1", self.serving.published
        try:
            found = self._run.engine.addresses(self._run.container.id)
        except (EngineError, MachineNotReadyError):
            return None
        return (found[0], self.serving.port) if found else None

    def _ping(self) -> str | None:
        address = self._address()
        return "the container has no address" if address is None else ping(address, seconds=self.serving.ping)

    def _look(self) -> None:
        """Ping a container in service, and store what has changed."""
        trouble, before = self._ping(), self.state.trouble
        self.state.trouble = trouble
        if (trouble is None) == (before is None):
            return
        if self.front is not None and trouble is None:
            self.front.serve_from(self._address())
        said = "the container is healthy again" if trouble is None else f"the container is not healthy: {trouble}"
        self.context.reporter.warning(said)
        self._store()

    def _in_service(self) -> None:
        self._open_front()
        self.state.in_service, self.state.trouble = time.time(), None
        self._store()
        self.context.phases.enter(JobPhase.TRAINING, PhaseMessage.TRAINING)
        self.context.reporter.progress(invocation_address(self._endpoint, self.state.port))
        settle(self.context.store, self._endpoint)

    def _open_front(self) -> None:
        identity = self.plan.identity
        self.front = Front(
            identity=Identity(
                endpoint=self._endpoint, variant=self._host, region=identity.region, account=identity.account
            ),
            limits=self.serving,
            port=self.state.port,
        )
        events = self.context.events
        self.front.start(lambda thread, error: events.put(ThreadDied(thread=thread, error=error)))
        self.front.serve_from(self._address())
        if self.front.port != self.state.port:
            self.state.port = self.front.port
            self._store()

    def _restarted(self, ended: ContainerExited, *, healthy: bool) -> bool:
        """Start the container again; False if that fails the endpoint, or a stop came first."""
        run = self._run
        run.container.join()
        if self.taken_over:
            run.complete_log()
            self.taken_over = False
        if self.front is not None:
            self.front.serve_from(None)
        soon = time.monotonic() - self.started < _SOON
        self.pause = min(max(0.5, self.pause * 2), _LONGEST_PAUSE) if soon and healthy else 0.0
        self.state.restarted(ended.exit_code)
        self.state.trouble = f"the container ended with exit code {ended.exit_code}"
        self.state.logged[run.name] = run.logged_before = logged_by(self.plan.job_directory, run.name)
        self._store()
        after = f" in {self.pause:g} s" if self.pause else ""
        self.context.reporter.warning(
            f"the container ended with exit code {ended.exit_code}; it is started again{after}"
        )
        if self.pause:
            event = self._next(time.monotonic() + self.pause)
            if event is not None:
                self.context.events.put(event)
                self.attempt.handle_late_requests()
                if not self.attempt.outcome.decided:
                    self.attempt.fail(INTERNAL_ERROR, self.attempt.explanation)
                return False
        return self._started(run.restart)


SUPERVISOR: Final = HostingSupervisor
