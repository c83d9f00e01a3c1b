"""Where the containers of a job will be: how many fit, on which addresses, and what they reach there."""

from typing import TYPE_CHECKING

from smlocal.engine.interface import Engine
from smlocal.errors import TooManyHostsError
from smlocal.jobfile.job_file import JobFile
from smlocal.planning.facts import EngineFacts
from smlocal.planning.hosts import host_count
from smlocal.quick_dataclass import dataclass

if TYPE_CHECKING:
    from smlocal.engine.interface import Network

PLANNED_HOSTS = 1000
"""More make no plan that anybody could read: each is told of all the others."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """What was found."""

    subnet: str = ""
    gateway: str = ""
    loopback_only: tuple[str, ...] = ()


def check_host_count(job: JobFile, *, most: int | None) -> None:
    """One machine plays all hosts: refuse more than `most`, or than can be planned, before anything is looked at."""
    resources = job.request.ResourceConfig
    count = 1 if resources is None else host_count(resources)
    if count > PLANNED_HOSTS:
        raise TooManyHostsError(
            f"{count} hosts are too many for one machine: the maximum is {PLANNED_HOSTS}",
            remedy=["Use fewer: --instance-count, or ResourceConfig.InstanceCount."],
        )
    if most is not None and count > most:
        raise TooManyHostsError(
            f"{count} hosts would be {count} containers at once on this machine, and Local.MaxHosts is {most}",
            remedy=[
                "Use fewer: --instance-count, or ResourceConfig.InstanceCount.",
                "Raise Local.MaxHosts if this machine has enough memory: smlocal plan shows what they need.",
            ],
        )


def see_place(job: JobFile, engine: Engine, facts: EngineFacts, *, run_id: str, sweep: bool) -> Place:
    """Look at the engine's networks where the job needs to know; `sweep` removes those that crashed jobs have left."""
    resources, endpoints = job.request.ResourceConfig, job.local.Endpoints
    hosts = 1 if resources is None else host_count(resources)
    own = hosts > 1 or job.request.EnableNetworkIsolation
    if not own and not endpoints:
        return Place()
    networks = engine.networks()
    loopback_only: tuple[str, ...] = ()
    if endpoints:
        from smlocal.job.prepare.listeners import on_loopback_only

        loopback_only = on_loopback_only(endpoints)
    if not own:
        return Place(gateway=_gateway(networks), loopback_only=loopback_only)
    from smlocal.job.prepare.networks import free_subnet, without_leftovers

    if sweep:
        networks = without_leftovers(engine, networks)
    near = facts.local and not facts.desktop
    within = job.local.NetworkRange
    subnet = free_subnet(networks, within=within, hosts=hosts, run_id=run_id, routes=near)
    return Place(subnet=subnet, loopback_only=loopback_only)


def _gateway(networks: "list[Network]") -> str:
    """This machine's address on the engine's default network; some engines leave out that it is the first one."""
    for network in networks:
        if network.default and network.subnets:
            from ipaddress import IPv4Network

            return network.gateway or str(IPv4Network(network.subnets[0])[1])
    return ""
