"""The containers of a job whose supervisor is gone: found before anything is decided about the job."""

import time
from collections.abc import Iterable

from smlocal.engine.containers import recreate_container
from smlocal.engine.engines import Engines
from smlocal.engine.interface import ContainerSpec, Engine, Resource, ResourceKind
from smlocal.errors import EngineError, MachineNotReadyError
from smlocal.jobs.containers import HOST_LABEL, FoundContainer, FoundContainers, labels, owned_by
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
