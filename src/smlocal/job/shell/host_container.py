"""The container of one host of a job, if the engine has it."""

from smlocal.engine.interface import Engine, ResourceKind
from smlocal.job.labels import HOST_LABEL, owned_by
from smlocal.planning.model import HostPlan, JobPlan

_STARTED = {"running", "paused"}


def host_container(engine: Engine, plan: JobPlan, host: HostPlan) -> str | None:
    """Its id."""
    for each in owned_by(engine, plan.name, plan.run_id):
        if each.kind is ResourceKind.CONTAINER and each.labels.get(HOST_LABEL) == host.host.name:
            return each.id
    return None


def is_running(engine: Engine, container: str) -> bool:
    """True if it has been started and has not ended."""
    return engine.state(container).status in _STARTED
