"""Changes of a plan after it was made: another network."""

from dataclasses import replace

from smlocal.planning.model import JobPlan
from smlocal.planning.network import plan_network


def on_network(plan: JobPlan, name: str, subnet: str) -> JobPlan:
    """The plan with a network of this name and addresses of this subnet, if the first one cannot be made."""
    old = plan.network
    if old is None:
        return plan
    new = plan_network(name, subnet, list(old.addresses), within=old.within, isolated=old.isolated, manager=old.manager)
    hosts = []
    for host in plan.hosts:
        # Local.Endpoints on this machine have the address of the gateway.
        environment = {
            name: value.replace(old.gateway, new.gateway) if name.startswith("AWS_ENDPOINT_URL_") else value
            for name, value in host.environment.items()
        }
        hosts.append(replace(host, environment=environment))
    return replace(plan, network=new, hosts=tuple(hosts))
