"""The network of a job's containers: how many there may be, their subnet, and what they can reach."""

from typing import TYPE_CHECKING

from smlocal.engine.interface import Engine
from smlocal.errors import TooManyHostsError
from smlocal.planning.facts import EngineFacts
from smlocal.platforms.sagemaker.jobfile.job_file import JobFile
from smlocal.platforms.sagemaker.planning.hosts import host_count
from smlocal.quick_dataclass import dataclass

if TYPE_CHECKING:
    from smlocal.engine.interface import Network

MAX_PLANNED_HOSTS = 1000
"""A plan for more would be too long to read: each host is told of all others."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkChoice:
    """Empty texts: not needed."""

    subnet: str = ""
    gateway: str = ""
    loopback_only: tuple[str, ...] = ()


def check_host_count(job: JobFile, *, most: int | None) -> None:
    """All hosts are containers of one machine: refuse more than `most`, and more than can be planned."""
    resources = job.request.ResourceConfig
    count = 1 if resources is None else host_count(resources)
    if count > MAX_PLANNED_HOSTS:
        raise TooManyHostsError(
            f"{count} hosts are too many for one machine: the maximum is {MAX_PLANNED_HOSTS}",
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


def choose_network(
    job: JobFile, engine: Engine, facts: EngineFacts, *, run_id: str, remove_leftovers: bool
) -> NetworkChoice:
    """Choose a free subnet if the job needs its own network. `remove_leftovers`: remove networks of crashed jobs."""
    resources, endpoints = job.request.ResourceConfig, job.local.Endpoints
    hosts = 1 if resources is None else host_count(resources)
    own = hosts > 1 or job.request.EnableNetworkIsolation
    if not own and not endpoints:
        return NetworkChoice()
    networks = engine.networks()
    loopback_only: tuple[str, ...] = ()
    if endpoints:
        from smlocal.job.prepare.loopback_services import loopback_only_services

        loopback_only = loopback_only_services(endpoints)
    if not own:
        return NetworkChoice(gateway=default_gateway(networks), loopback_only=loopback_only)
    from smlocal.job.prepare.job_network import free_subnet, remove_leftover_networks

    if remove_leftovers:
        networks = remove_leftover_networks(engine, networks)
    near = facts.local and not facts.desktop
    within = job.local.NetworkRange
    subnet = free_subnet(networks, within=within, hosts=hosts, run_id=run_id, routes=near)
    return NetworkChoice(subnet=subnet, loopback_only=loopback_only)


def default_gateway(networks: "list[Network]") -> str:
    """This machine's address on the engine's default network: the first one if the engine does not report it."""
    for network in networks:
        if network.default and network.subnets:
            from ipaddress import IPv4Network

            return network.gateway or str(IPv4Network(network.subnets[0])[1])
    return ""
