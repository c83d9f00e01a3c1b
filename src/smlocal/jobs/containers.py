"""The containers of a job on an engine: their labels, how each is made from the plan, and how they are found again."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import TYPE_CHECKING

from smlocal.base.at_use import at_use
from smlocal.base.quick_dataclass import dataclass
from smlocal.engine.interface import (
    JOB_LABEL,
    RUN_LABEL,
    ContainerSpec,
    ContainerState,
    Engine,
    Mount,
    Resource,
    ResourceKind,
)
from smlocal.jobs.planning.model import HostPlan, JobPlan

if TYPE_CHECKING:
    from smlocal.jobs.planning.aspects.debugging.asked import debug_variables
else:
    debug_variables = at_use("smlocal.jobs.planning.aspects.debugging.asked", "debug_variables")

HOST_LABEL = "smlocal.host"
"""On a container: the name of its host."""
_STARTED = {"running", "paused"}

_RUNNING = {"running", "paused", "restarting"}
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


def labels(plan: JobPlan) -> dict[str, str]:
    """The labels of a job's containers, volumes and networks."""
    return {JOB_LABEL: plan.name, RUN_LABEL: plan.run_id}


def owned_by(engine: Engine, job: str, run_id: str) -> list[Resource]:
    """Everything of this run on the engine, in the order of removal; not of other jobs with the same name."""
    return [resource for resource in engine.owned(job) if resource.labels.get(RUN_LABEL) == run_id]


def container_spec(
    plan: JobPlan,
    host: HostPlan,
    *,
    labels: Mapping[str, str],
    mounts: tuple[Mount, ...],
    environment: Mapping[str, str] = {},
) -> ContainerSpec:
    """The container of a host. `environment`: variables that those of the plan override."""
    network, program, shared = plan.network.own, host.program or plan.image, plan.network.shared
    debugged: Mapping[str, str] = {}
    if plan.debug is not None:
        debugged = debug_variables(plan, host)
    return ContainerSpec(
        name=host.container,
        image=program.name,
        labels=labels,
        entrypoint=program.entrypoint,
        command=program.command,
        environment={**environment, **host.environment, **debugged},
        hostname=host.names.hostname,
        mounts=mounts,
        extra_hosts={**(network.addresses if network is not None else {}), **host.names.extra_hosts},
        network=network.name if network is not None else shared or None,
        address=network.addresses[host.host.name] if network is not None else "",
        # Nothing listens there: an engine's own DNS forwards, with some engines even from an isolated network.
        name_servers=("127.0.0.1",) if network is not None and network.isolated else (),
        aliases=() if plan.faults.names_after else host.names.aliases,
        joined=plan.network.joined,
        # On a shared network, its ports are there without being published, and an engine refuses to publish them.
        ports=() if plan.debug is None or shared else (plan.debug.ports[host.host.name],),
        published=(
            {host.server.port: host.server.published}
            if host.server is not None and host.server.published and not shared
            else {}
        ),
        devices=host.accelerators.gpus,
        runtime=host.accelerators.runtime,
        device_files=host.accelerators.neuron,
        limits=host.limits,
    )


def host_container(engine: Engine, plan: JobPlan, host: HostPlan) -> str | None:
    """Its id."""
    for each in owned_by(engine, plan.name, plan.run_id):
        if each.kind is ResourceKind.CONTAINER and each.labels.get(HOST_LABEL) == host.host.name:
            return each.id
    return None


def is_running(engine: Engine, container: str) -> bool:
    """True if it has been started and has not ended."""
    return engine.state(container).status in _STARTED
