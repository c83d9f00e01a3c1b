"""Supervises an endpoint: brings its models, waits for the first pings, starts containers again, and answers."""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Final

from smlocal.base.at_use import at_use
from smlocal.base.files import remove_tree
from smlocal.base.quick_dataclass import dataclass
from smlocal.base.threads import run_each
from smlocal.errors import EngineError, JobUnrecordedError, MachineNotReadyError, SmlocalError
from smlocal.jobs.container_supervisor import ContainerSupervisor
from smlocal.jobs.containers import FoundContainer
from smlocal.jobs.decide.attempt_outcome import HostEnd
from smlocal.jobs.decide.events import ContainerExited, Event, StagingStoppedError, ThreadDied, Woken
from smlocal.jobs.history import Past
from smlocal.jobs.host.host_run import HostRun
from smlocal.jobs.host.staging import file_systems
from smlocal.jobs.logs.log_file import logged_by
from smlocal.jobs.planning.aspects.serving.plan import ModelForm, ModelPlan, ServerPlan, ServingPlan
from smlocal.jobs.planning.model import HostPlan
from smlocal.jobs.store.jobs import Store
from smlocal.sagemaker.hosting.model_data import fill_folder, list_in_s3, local_files
from smlocal.sagemaker.hosting.routing import Router
from smlocal.sagemaker.hosting.servers import Server, ports_taken
from smlocal.sagemaker.hosting.service_answers import Identity
from smlocal.sagemaker.serving import facts
from smlocal.sagemaker.serving.address import (
    demanded_authorization,
    invocation_address,
    invoking_commands,
    key_file,
    socket_path,
)
from smlocal.sagemaker.serving.state import HOSTING, WEIGHTS, State, read_state, shown
from smlocal.terms.listing import Listing
from smlocal.terms.statuses import (
    FAILED,
    INTERNAL_ERROR,
    STOPPED,
    Ending,
    FailureKind,
    JobPhase,
    PhaseMessage,
    StopCause,
    input_failure,
)

if TYPE_CHECKING:
    from smlocal.base.foreign_archive import stream
    from smlocal.jobs.finish.cleanup import clear_attempt, clear_engines
    from smlocal.sagemaker.hosting.front import Front
    from smlocal.sagemaker.serving.named_endpoint import settle
else:
    stream = at_use("smlocal.base.foreign_archive.stream")
    clear_attempt = at_use("smlocal.jobs.finish.cleanup", "clear_attempt")
    clear_engines = at_use("smlocal.jobs.finish.cleanup", "clear_engines")
    Front = at_use("smlocal.sagemaker.hosting.front", "Front")
    settle = at_use("smlocal.sagemaker.serving.named_endpoint", "settle")

_NOT_RUN = (126, 127)
"""Exit codes of a shell, and of an engine, whose program did not start."""


@dataclass(kw_only=True, slots=True)
class HostingSupervisor(ContainerSupervisor):
    """Takes one recorded endpoint to its end."""

    IN_SERVICE: ClassVar[Sequence[str]] = (
        "smlocal.sagemaker.hosting.front",
        "smlocal.sagemaker.serving.named_endpoint",
        "smlocal.engine.networks",
        "smlocal.jobs.finish.artifacts",
        "smlocal.jobs.finish.cleanup",
    )
    """Modules needed at the first answered ping, and at the end."""

    serving: ServingPlan = field(init=False)
    state: State = field(default_factory=State)
    servers: dict[str, Server] = field(default_factory=dict)
    """By the name of the host."""
    router: Router = field(init=False)
    front: Front | None = None
    listings: dict[tuple[str, ModelForm], Listing] = field(default_factory=dict)
    """Of models in S3. What is downloaded is known by them, so they are kept."""
    blamed: str | None = None
    """The host that the failure of the endpoint is about."""
    folder: int = -1
    """The open folder of the job: threads of this process would make another in its place."""

    def __post_init__(self) -> None:
        ContainerSupervisor.__post_init__(self)
        if self.plan.serving is None:
            raise AssertionError(self.plan.name)  # every endpoint has one
        self.serving = self.plan.serving
        self.state = read_state(self.context.store.document(self.plan.name, HOSTING))
        self.router = Router.of(self._endpoint, self.serving.variants, self.plan.hosts)
        self._read_weights()
        self.folder = os.open(self.plan.job_directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def run(self) -> None:
        """Make the containers, and serve until somebody stops it."""
        if not self._brought_models():
            return
        self.attempt.download(self.pull_refused)
        if not self.attempt.over:
            self.context.reporter.working("waiting for an answer to /ping")
            self._find_servers()
            if self._started_all():
                self.serve()

    def resume(self, past: Past, phase: JobPhase) -> None:
        """Continue an endpoint whose supervisor was killed at any moment."""
        attempt, found = self.attempt, self.found
        attempt.outcome = past.outcome
        if len(found.hosts) < len(self.plan.hosts):
            clear_attempt(self.context.engines, self.plan)
            if not attempt.over:
                self.run()
            return
        ended = [self._taken_over(host, found.hosts[host.host.name]) for host in self.plan.hosts]
        ends = [each for each in ended if each is not None]
        self.reopen_credentials()
        if attempt.over:
            attempt.resume_watching(past, ends, past.grace)
            for run in attempt.runs.values():
                if not self._is_counted(run):
                    run.complete_log()
            return
        if found.ended_at is not None:
            self.context.phases.go_on()
        self._serve_on(ends, healthy=phase is JobPhase.TRAINING)

    def _taken_over(self, host: HostPlan, there: FoundContainer) -> ContainerExited | None:
        """Use a container that an earlier supervisor has started; returns its end, if it has ended."""
        run = self.attempt.host_run(host)
        run.logged_before = self.state.logged.get(run.name, 0)
        run.take_over(there.id, running=there.running)
        run.staged = file_systems(self.plan, host)
        if not self._is_counted(run):
            run.complete_log(later=True)
        code, killed = there.state.exit_code, there.state.oom_killed
        return None if there.running else ContainerExited(container=run.name, exit_code=code, oom_killed=killed)

    def _is_counted(self, run: HostRun) -> bool:
        """True if the container's end was handled, and its log is complete; only its restart is still to come."""
        return self.state.counted.get(run.name) == run.container.id

    def _serve_on(self, ends: Sequence[ContainerExited], *, healthy: bool) -> None:
        """Serve with containers that were taken over. `healthy`: the endpoint was in service."""
        self.attempt.ran = True
        self._find_servers()
        for server in self.servers.values():
            server.on_taken_over(ready=healthy)
            server.run.resume_watching(read=True)
        for event in ends:
            server = self.servers[event.container]
            server.run.container.exited = True
            if self._is_counted(server.run):
                server.on_counted_end(_ended(event))
            else:
                self.context.events.put(event)
        if healthy:
            self.open_front()
        self.serve()
        for server in self.servers.values():
            if server.taken_over:
                server.run.complete_log()

    @classmethod
    def logged_before(cls, store: Store, name: str) -> Mapping[str, int]:
        """Bytes of each log from containers before the last one."""
        return read_state(store.document(name, HOSTING)).logged

    def decide(self) -> tuple[Ending, str | None]:
        """How the endpoint ends, and why, in the service's words."""
        outcome = self.attempt.outcome
        blamed = _server(self._host(outcome.first_failure or self.blamed))
        if outcome.failure is not None and outcome.failure.kind is not FailureKind.START:
            return FAILED, self.kind.reason(outcome.failure)
        if outcome.failure is not None or outcome.first_failure is not None:
            return FAILED, facts.not_healthy(blamed.variant, blamed.called)
        return STOPPED[outcome.stopped or StopCause.REQUEST], None

    def more_results(self) -> dict[str, Any]:
        """Where it was invoked, and how often its containers were started again."""
        return shown(self.state.document(), self._endpoint)

    def finish(self) -> None:
        """Answer nobody any more, then end."""
        if self.front is not None:
            self.front.close()
        is_replaced = self._folder_is_gone() and os.path.exists(self.plan.job_directory)
        os.close(self.folder)
        if is_replaced:
            # The home was removed and made anew: the folder of that name, and the record, are those of another job.
            clear_engines(self.context.engines, self.plan.name, self.plan.run_id, engine_lost=False, rules=False)
            raise JobUnrecordedError(
                f"the endpoint '{self.plan.name}' has ended, and its folder is that of another job now",
                details=[self.plan.job_directory],
            )
        ContainerSupervisor.finish(self)

    @property
    def _endpoint(self) -> str:
        """The name under which it answers: an update is a job of another name."""
        return str(self.plan.request.get("EndpointName", self.plan.name))

    def _host(self, name: str | None) -> HostPlan:
        """The host of that name, or the first one."""
        return next((host for host in self.plan.hosts if host.host.name == name), self.plan.hosts[0])

    def _find_servers(self) -> None:
        self.servers = {name: Server(run=run, plan=_server(run.host)) for name, run in self.attempt.runs.items()}

    def _store(self) -> None:
        self.state.troubles = {
            name: each.trouble for name, each in self.servers.items() if each.ready and each.trouble is not None
        }
        self.context.store.put_document(self.plan.name, HOSTING, self.state.document())

    # The models.

    def _brought_models(self) -> bool:
        """Fill the folders that are mounted; False if it fails the endpoint, or a stop came first."""
        brought = [(host, model) for host in self.plan.hosts for model in _server(host).models if model.is_brought]
        return all(self._brought(host, model) for host, model in brought)

    def _brought(self, host: HostPlan, model: ModelPlan) -> bool:
        number, requests = _server(host).number, self.context.stop_requests
        while not self.attempt.over:
            try:
                remove_tree(model.folder)
                with requests.interruptible():
                    listing = local_files(
                        model, list_remote=lambda: self._listed(model), download=self.attempt.delivery.download
                    )
                with requests.checked() as check:
                    fill_folder(model, listing, check=check)
            except StagingStoppedError:
                self.attempt.handle_late_requests()
            except stream.ArchiveError as error:
                self._fail(host, facts.not_extracted(model.uri, number), f"the archive cannot be unpacked: {error}")
            except SmlocalError as error:
                self._fail(host, facts.not_downloaded(model.uri, number), error.with_details)
            except OSError as error:
                self._fail(host, facts.not_downloaded(model.uri, number), str(error))
            else:
                return True
        return False

    def _listed(self, model: ModelPlan) -> Listing:
        known = model.uri, model.form
        if known not in self.listings:
            region, rights = self.plan.identity.region, self.plan.rights
            self.listings[known] = list_in_s3(model.uri, model.form, region=region, role="", rights=rights)
        return self.listings[known]

    def _fail(self, host: HostPlan, reason: str, explanation: str) -> None:
        self.blamed = host.host.name
        self.attempt.fail(input_failure(reason), explanation)

    # The containers.

    def _started_all(self) -> bool:
        """Start all containers at the same time; False if that fails the endpoint."""
        servers = list(self.servers.values())
        errors = self._ports_taken(servers)
        if not errors:
            errors = run_each(lambda server: server.run.start(), servers, meanwhile=self._import_the_rest)
        self.attempt.ran = len(errors) < len(servers)
        for server in servers:
            server.on_first_start()
        self.attempt.on_running()
        for number, error in errors.items():
            servers[number].run.container.exited = True
            if not self.attempt.over:
                self._not_started(servers[number], error)
        if errors and self.attempt.ran:
            self.attempt.watch_running(stop=True)
        return not errors

    def _ports_taken(self, servers: Sequence[Server]) -> Mapping[int, Exception]:
        return ports_taken(servers) if self.plan.engines.first.place is not None else {}

    def _import_the_rest(self) -> None:
        """Import while the engine starts the containers."""
        for module in self.IN_SERVICE:
            import_module(module)
        self.context.reporter.import_the_rest()

    def _not_started(self, server: Server, error: Exception) -> None:
        if not isinstance(error, EngineError | MachineNotReadyError):
            raise error
        self.blamed = server.name
        self.attempt.start_failed(error)
        failure = self.attempt.outcome.failure
        if failure is not None and failure.kind is FailureKind.START:
            self.attempt.explanation = f"the container cannot be started: {error.sentence}"

    def serve(self) -> None:
        """Until a stop, a failure, or something that ends every job: those are watched as in a job."""
        for request in self.context.stored_requests.read():
            self.context.events.put(request)
        goes_on = True
        while goes_on:
            if self._folder_is_gone():  # no command finds the endpoint, which would never end
                why = f"the folder of the endpoint was removed: {self.plan.job_directory}"
                self.broken_off(INTERNAL_ERROR, why)
                return
            event = self._next(min(each.due for each in self.servers.values()))
            if isinstance(event, ContainerExited):
                goes_on = self._goes_on_after(event)
            elif event is not None:
                self.context.events.put(event)
                self._leave(stop=False)
                return
            else:
                server = min(self.servers.values(), key=lambda each: each.due)
                goes_on = self._restarted(server) if server.ended else self._looked(server)

    def _folder_is_gone(self) -> bool:
        """True if it was removed, or moved away with the home."""
        try:
            return not os.path.samestat(os.stat(self.plan.job_directory), os.fstat(self.folder))
        except FileNotFoundError:
            return True

    def _leave(self, *, stop: bool) -> None:
        """Watch the containers to their end; `stop`: they are not needed any more."""
        if any(not server.run.container.exited for server in self.servers.values()):
            self.attempt.watch_running(stop=stop)
            return
        self.attempt.handle_late_requests()
        if not self.attempt.outcome.decided:
            self.attempt.fail(INTERNAL_ERROR, self.attempt.explanation)
        self.attempt.explain_exit_codes(grace=self.plan.stop.grace)

    def _next(self, at: float) -> Event | None:
        """The next event; None when it is time for a ping."""
        while True:
            event = self.context.events.next(max(0.0, at - time.monotonic()))
            for request in self.context.stored_requests.read():
                self.context.events.put(request)
            if isinstance(event, Woken):
                self._read_weights()
                continue
            if isinstance(event, ContainerExited) and not self.context.events.empty():
                later = self.context.events.next(0)  # a stop that was stored before the end counts first
                self.context.events.put(event)
                if isinstance(later, Woken):
                    self._read_weights()
                elif later is not None:
                    return later
                continue
            return event

    def _read_weights(self) -> None:
        self.router.weigh(self.context.store.document(self.plan.name, WEIGHTS) or {})

    def _looked(self, server: Server) -> bool:
        """Ping a container, and tell what has changed; False if the endpoint has failed."""
        ready, before = server.ready, server.trouble
        trouble = server.look(self.serving.ping)
        if server.late:
            self._fail(
                server.run.host,
                facts.not_healthy(server.plan.variant, server.plan.called),
                f"{self._named(server)}{server.silence}",
            )
            self._leave(stop=True)
            return False
        if ready and (trouble is None) != (before is None):
            if trouble is None:
                self._place(server)
            said = "is healthy again" if trouble is None else f"is not healthy: {trouble}"
            self.context.reporter.warning(f"{self._called(server)} {said}")
            self._store()
        if not ready and server.ready:
            self._place(server)
            if self.front is None and all(each.ready for each in self.servers.values()):
                self._in_service()
        return True

    def _in_service(self) -> None:
        self.open_front()
        self.state.in_service = time.time()
        self._store()
        self.context.phases.enter(JobPhase.TRAINING, PhaseMessage.TRAINING)
        self._show_address()
        settle(self.context.store, self._endpoint, job=self.plan.name)

    def _show_address(self) -> None:
        name, state, reporter = self._endpoint, self.state, self.context.reporter
        reporter.progress(invocation_address(name, state.port))
        for command in invoking_commands(name, state.port, state.key_file):
            reporter.progress(command)
        if state.access:
            reporter.progress(state.access)

    def open_front(self) -> None:
        """Answer invocations from now on."""
        identity, directory = self.plan.identity, self.plan.job_directory
        for server in self.servers.values():
            self._place(server)
        self.front = Front(
            identity=Identity(
                endpoint=self._endpoint,
                variant=self.serving.variants[0].name,
                region=identity.region,
                account=identity.account,
            ),
            limits=self.serving,
            routes=self.router,
            port=self.state.port,
            owners_socket=socket_path(directory),
            directory=directory,
            key=demanded_authorization(directory) if self.serving.key else None,
        )
        events = self.context.events
        self.front.start(lambda thread, error: events.put(ThreadDied(thread=thread, error=error)))
        if self.front.port != self.state.port:
            if self.state.port:
                self._address_changed(self.state.port, self.front.port)
            self.state.port, self.state.access = self.front.port, self.serving.access
            self.state.key_file = key_file(directory) if self.serving.key else None
        self.state.answers = time.time()
        self._store()

    def _address_changed(self, old: int, new: int) -> None:
        """Another program has the port that an earlier supervisor had."""
        self.state.former_port = old
        before, now = (invocation_address(self._endpoint, port) for port in (old, new))
        self.context.reporter.warning(
            f"the address has changed, because another program has its port: {now}, not {before}"
        )

    def _place(self, server: Server) -> None:
        """Pass requests on to the container, or to nobody while it has ended."""
        self.router.place(server.name, None if server.run.container.exited else server.address())
        if self.front is not None:
            self.front.forget()

    def _goes_on_after(self, ended: ContainerExited) -> bool:
        """A container has ended; False if that fails the endpoint."""
        server = self.servers[ended.container]
        server.run.container.join()
        pause = server.on_end()
        self._place(server)
        if server.given_up:
            self._gave_up(server, ended)
            return False
        if server.taken_over:
            server.run.complete_log()
            server.taken_over = False
        server.trouble = _ended(ended)
        self.state.restarted(server.name, ended.exit_code)
        self.state.counted[server.name] = server.run.container.id
        self._store()
        after = f" in {pause:g} s" if pause else ""
        self.context.reporter.warning(
            f"{self._called(server)} ended with exit code {ended.exit_code}; it is started again{after}"
        )
        return True

    def _gave_up(self, server: Server, ended: ContainerExited) -> None:
        end = HostEnd(host=server.name, exit_code=ended.exit_code, oom_killed=ended.oom_killed)
        outcome = self.attempt.outcome
        self.attempt.outcome = replace(outcome, ends=(*outcome.ends, end), first_failure=server.name)
        hint = "" if ended.exit_code in _NOT_RUN else server.port_hint
        self._fail(
            server.run.host,
            facts.not_healthy(server.plan.variant, server.plan.called),
            f"{self._called(server)} ended {server.early} times before it answered /ping, "
            f"with exit code {ended.exit_code}{hint}",
        )
        self._leave(stop=True)

    def _restarted(self, server: Server) -> bool:
        """Start a container again; False if that fails the endpoint."""
        logged = logged_by(self.plan.job_directory, server.name)
        self.state.logged[server.name] = server.run.logged_before = logged
        self._store()
        try:
            # In a place, a container whose port is taken would only end again, and again.
            if taken := self._ports_taken([server]):
                raise taken[0]
            server.run.restart()
        except (EngineError, MachineNotReadyError) as error:
            server.run.container.exited = True
            self._not_started(server, error)
            self._leave(stop=True)
            return False
        server.on_start()
        return True

    def _called(self, server: Server) -> str:
        return "the container" if len(self.servers) == 1 else f"the container {server.name}"

    def _named(self, server: Server) -> str:
        return "" if len(self.servers) == 1 else f"{server.name}: "


def _ended(event: ContainerExited) -> str:
    return f"the container ended with exit code {event.exit_code}"


def _server(host: HostPlan) -> ServerPlan:
    if host.server is None:
        raise AssertionError(host.host.name)  # every container of an endpoint has one
    return host.server


SUPERVISOR: Final = HostingSupervisor
