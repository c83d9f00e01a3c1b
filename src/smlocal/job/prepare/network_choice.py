"""The network of a job's containers: its subnet, and what they can reach."""

from typing import TYPE_CHECKING

from smlocal.job.prepare.placed_engines import PlacedEngines
from smlocal.jobfile.settings import LocalSettings
from smlocal.quick_dataclass import dataclass

if TYPE_CHECKING:
    from smlocal.engine.interface import Network


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkChoice:
    """Empty texts: not needed."""

    subnet: str = ""
    gateway: str = ""
    loopback_only: tuple[str, ...] = ()


def choose_network(
    hosts: int,
    local: LocalSettings,
    placed: PlacedEngines,
    *,
    isolated: bool,
    run_id: str,
    remove_leftovers: bool,
) -> NetworkChoice:
    """Choose a free subnet if the job needs its own network. `remove_leftovers`: remove networks of crashed jobs."""
    endpoints, own = local.Endpoints, hosts > 1 or isolated
    if not own and not endpoints:
        return NetworkChoice()
    networks = [each for place in placed.each for each in place.engine.networks()]
    loopback_only: tuple[str, ...] = ()
    if endpoints:
        from smlocal.job.prepare.loopback_services import loopback_only_services

        loopback_only = loopback_only_services(endpoints)
    if not own:
        return NetworkChoice(gateway=default_gateway(networks), loopback_only=loopback_only)
    from smlocal.job.prepare.job_network import free_subnet, remove_leftover_networks

    if remove_leftovers:
        for place in placed.each:
            networks = remove_leftover_networks(place.engine, networks)
    near = any(place.facts.local and not place.facts.desktop for place in placed.each)
    within = local.NetworkRange
    subnet = free_subnet(networks, within=within, hosts=hosts, run_id=run_id, routes=near, overlay=bool(placed.manager))
    return NetworkChoice(subnet=subnet, loopback_only=loopback_only)


def default_gateway(networks: "list[Network]") -> str:
    """This machine's address on the engine's default network: the first one if the engine does not report it."""
    for network in networks:
        if network.default and network.subnets:
            from ipaddress import IPv4Network

            return network.gateway or str(IPv4Network(network.subnets[0])[1])
    return ""
