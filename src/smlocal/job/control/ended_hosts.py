"""The hosts of a job whose containers have ended, for what is still to be done with them."""

from smlocal.engine.interface import Engine, ResourceKind
from smlocal.job.decide.events import Events
from smlocal.job.host.delivery import Delivery
from smlocal.job.host.host_run import HOST_LABEL, HostRun
from smlocal.job.labels import owned_by
from smlocal.job.reporter import Silent
from smlocal.planning.model import JobPlan


def ended_hosts(plan: JobPlan, engine: Engine) -> list[HostRun]:
    """Those that the engine still has."""
    nothing = Delivery(plan=plan, home="", reporter=Silent(), broken=lambda _, __: None)
    containers = {
        resource.labels.get(HOST_LABEL): resource.id
        for resource in owned_by(engine, plan.name, plan.run_id)
        if resource.kind is ResourceKind.CONTAINER
    }
    runs = []
    for host in plan.hosts:
        if (container := containers.get(host.host.name)) is not None:
            run = HostRun(plan=plan, host=host, engine=engine, events=Events(), reporter=Silent(), delivery=nothing)
            run.take_over(container, running=False)
            runs.append(run)
    return runs
