"""Changes of a plan after it was made: another subnet."""

from dataclasses import replace

from smlocal.planning.model import JobPlan
from smlocal.planning.network import plan_network


def on_subnet(plan: JobPlan, subnet: str) -> JobPlan:
    """The plan with addresses of this subnet, if another job has taken the first one."""
    old = plan.network
    if old is None:
        return plan
    new = plan_network(
        old.name, subnet, list(old.addresses), within=old.within, isolated=old.isolated, manager=old.manager
    )
    hosts = []
    for host in plan.hosts:
        # Local.Endpoints on this machine have the address of the gateway.
        environment = {
            name: value.replace(old.gateway, new.gateway) if name.startswith("AWS_ENDPOINT_URL_") else value
            for name, value in host.environment.items()
        }
        hosts.append(replace(host, environment=environment))
    return replace(plan, network=new, hosts=tuple(hosts))
