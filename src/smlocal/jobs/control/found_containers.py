"""The containers of a job whose supervisor is gone: found before anything is decided about the job."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import field
from datetime import datetime

from smlocal.base.quick_dataclass import dataclass
from smlocal.engine.containers import recreate_container
from smlocal.engine.engines import Engines
from smlocal.engine.interface import ContainerSpec, ContainerState, Engine, Resource, ResourceKind
from smlocal.errors import EngineError, MachineNotReadyError
from smlocal.jobs.containers import HOST_LABEL, labels, owned_by
from smlocal.jobs.decide.events import EventQueue
from smlocal.jobs.host.delivery import Delivery
from smlocal.jobs.host.host_run import HostRun
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.view import Reporter

_TRIES, _PAUSE_SECONDS = 10, 1.0
"""An engine that answers with an error is often only busy, or restarting."""
_NOT_FOUND = 404
_RUNNING = {"running", "paused", "restarting"}
_RAN = {*_RUNNING, "exited", "dead"}
_NEVER = "0002"
"""Engines use timestamps before this for events that have not happened."""
_ENGINE_STARTS_SECONDS = 15.0
"""A starting engine gives containers that still run ten seconds between SIGTERM and SIGKILL."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundContainer:
    """A container that has been started."""

    id: str
    state: ContainerState
    engine_started: str
    """When its engine itself was started; empty if it does not say."""

    @property
    def running(self) -> bool:
        """True if it has not ended."""
        return self.state.status in _RUNNING


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundContainers:
    """The containers that have been started, by host."""

    hosts: Mapping[str, FoundContainer] = field(default_factory=dict)

    @property
    def ended_at(self) -> float | None:
        """When the last container ended, by the engine's clock; None if one is running or there are none."""
        if not self.hosts or any(host.running for host in self.hosts.values()):
            return None
        return max(datetime.fromisoformat(host.state.finished_at).timestamp() for host in self.hosts.values())

    @property
    def ended_with_the_engine(self) -> bool:
        """True if a container failed because the engine was restarted.

        A restarting engine ends containers with SIGTERM and SIGKILL; after a power cut it reports all of them as ended.
        So a failure close to the engine's start is not the algorithm's.
        """
        return any(_ended_with_the_engine(each) for each in self.hosts.values())


def _ended_with_the_engine(host: FoundContainer) -> bool:
    if host.running or host.state.exit_code == 0 or not host.engine_started:
        return False
    start = datetime.fromisoformat(host.engine_started)
    between = datetime.fromisoformat(host.state.finished_at) - start
    began = datetime.fromisoformat(host.state.started_at)
    return began < start and abs(between.total_seconds()) < _ENGINE_STARTS_SECONDS


def find_containers(engines: Engines, plan: JobPlan) -> FoundContainers:
    """Ask the engines, several times if one answers with an error, and then raise the error.

    A container is gone only if the engine says so.
    """
    for remaining in reversed(range(_TRIES)):
        try:
            return FoundContainers(
                hosts={name: each for engine in engines for name, each in _started(engine, plan).items()}
            )
        except (EngineError, MachineNotReadyError):
            if not remaining:
                raise
            time.sleep(_PAUSE_SECONDS)
    raise AssertionError


def remove_unseen(engines: Engines, plan: JobPlan, found: FoundContainers) -> None:
    """Remove the containers of hosts without a started one, including those that an engine is still making.

    An engine goes on with a request whose client was killed. So each name is taken for a moment, which waits for that.
    """
    for host in plan.hosts:
        if host.host.name in found.hosts:
            continue
        engine = engines.at(host.engine)
        spec = ContainerSpec(
            name=host.container,
            image=(host.program or plan.image).name,
            labels=labels(plan),
            entrypoint=("none",),
            command=None,
            environment={},
            hostname=host.names.hostname,
        )
        try:
            engine.remove(Resource(kind=ResourceKind.CONTAINER, id=recreate_container(engine, spec)))
        except EngineError as error:
            if not error.status:
                raise  # else the engine cannot make it, as when there is no image: then no other process has


def hosts_with_containers(engines: Iterable[Engine], plan: JobPlan) -> list[HostRun]:
    """The hosts of an ended job that still have a container on these engines, for cleaning up."""
    delivery = Delivery(plan=plan, home="", reporter=Reporter(), on_failure=lambda _, __: None)
    found = {name: (engine, each) for engine in engines for name, each in _container_ids(engine, plan).items()}
    runs = []
    for host in plan.hosts:
        if host.host.name in found:
            engine, container = found[host.host.name]
            run = HostRun(
                plan=plan, host=host, engine=engine, events=EventQueue(), reporter=Reporter(), delivery=delivery
            )
            run.take_over(container, running=False)
            runs.append(run)
    return runs


def _container_ids(engine: Engine, plan: JobPlan) -> dict[str, str]:
    return {
        resource.labels[HOST_LABEL]: resource.id
        for resource in owned_by(engine, plan.name, plan.run_id)
        if resource.kind is ResourceKind.CONTAINER and HOST_LABEL in resource.labels
    }


def _started(engine: Engine, plan: JobPlan) -> dict[str, FoundContainer]:
    found: dict[str, FoundContainer] = {}
    containers = _container_ids(engine, plan)
    if not containers:
        return found
    began = engine.began()
    for host, container in containers.items():
        try:
            state = engine.state(container)
        except EngineError as error:
            if error.status != _NOT_FOUND:
                raise
            continue  # removed since it was listed
        if state.status in _RAN and state.started_at > _NEVER:
            found[host] = FoundContainer(id=container, state=state, engine_started=began)
    return found
